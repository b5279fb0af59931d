/** A real PgBouncer in front of a PostgreSQL server. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PostgresServer } from '../support/postgres.ts';
import { freePort, type Lifetime } from '../support/service.ts';
import { environment, NOBODY, unpacked } from './packages.ts';

/** How a pooler lends sessions. */
export type PoolMode = 'session' | 'transaction' | 'statement';

/** Starts one, and answers with a function that gives the URL of a database through it; it ends with the test. */
export async function startPgBouncer(
  t: Lifetime,
  server: PostgresServer,
  mode: PoolMode,
): Promise<(url: string) => string> {
  const folder = mkdtempSync(join(tmpdir(), 'valetkey-pgbouncer-'));
  chmodSync(folder, 0o755);
  const port = await freePort();
  writeFileSync(join(folder, 'users'), '"postgres" ""\n');
  const settings = `[databases]\n* = host=127.0.0.1 port=${server.port}\n[pgbouncer]\nlisten_addr = 127.0.0.1
listen_port = ${port}\nunix_socket_dir =\nauth_type = trust\nauth_file = ${folder}/users\npool_mode = ${mode}
default_pool_size = 40\nserver_login_retry = 1\n`;
  writeFileSync(join(folder, 'pgbouncer.ini'), settings);
  const child = spawn(unpacked('usr/sbin/pgbouncer'), [join(folder, 'pgbouncer.ini')], {
    ...NOBODY,
    env: environment(),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  t.after(async () => {
    const ended = once(child, 'exit');
    if (child.exitCode === null && child.kill('SIGKILL')) await ended;
    rmSync(folder, { recursive: true, force: true });
  });
  let said = '';
  await new Promise<void>((resolve, reject) => {
    child.once('exit', () => reject(new Error(`PgBouncer: ${said}`)));
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (said.includes('process up')) resolve();
    });
  });
  return (url) => url.replace(/@[^/]+\//, `@127.0.0.1:${port}/`);
}
