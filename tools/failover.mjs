// npm run test:failover: clusters of Patroni, and PgBouncer before PostgreSQL, from Debian's packages.
import { spawnSync } from 'node:child_process';
import { unpackPackages } from './debian.mjs';

const PACKAGES = ['patroni', 'python3-etcd', 'etcd-server', 'postgresql', 'pgbouncer'];

const { place, failed } = unpackPackages('failover', PACKAGES);
if (failed) {
  console.error(`test:failover: the packages are not there: ${failed}`);
  process.exitCode = 1;
} else {
  const env = { ...process.env, VALETKEY_FAILOVER_PACKAGES: place };
  process.exitCode =
    spawnSync(process.execPath, ['--test', '--test-concurrency=1', 'test/failover/*.test.ts'], {
      env,
      stdio: 'inherit',
    }).status ?? 1;
}
