/** Debian's packages for these tests, unpacked by `npm run test:failover` into a folder that VALETKEY_FAILOVER_PACKAGES names. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const UNPACKED = process.env['VALETKEY_FAILOVER_PACKAGES'];
const VERSIONS = 'usr/lib/postgresql';

/** Whether the packages are there. */
export const areThere = UNPACKED !== undefined;

/** A file of the packages; a package that the machine has by itself is not among those that were unpacked. */
export function unpacked(path: string): string {
  const place = join(UNPACKED ?? '/', path);
  return existsSync(place) ? place : join('/', path);
}

/** The user that programs which refuse to be root run as. */
export const NOBODY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/** The folder of PostgreSQL's programs, of the newest version that has a server. */
export function postgresqlPrograms(): string {
  const found = [join(UNPACKED ?? '/', VERSIONS), join('/', VERSIONS)]
    .flatMap((folder) => (existsSync(folder) ? readdirSync(folder).map((version) => join(folder, version, 'bin')) : []))
    .filter((folder) => existsSync(join(folder, 'postgres')));
  return found.toSorted().at(-1) ?? '';
}

/** The environment in which programs of the packages find their libraries. */
export function environment(): Record<string, string> {
  return {
    PATH: `${postgresqlPrograms()}:/usr/bin:/bin`,
    LD_LIBRARY_PATH: join(UNPACKED ?? '/', `usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu`),
    PYTHONPATH: join(UNPACKED ?? '/', 'usr/lib/python3/dist-packages'),
    PYTHONDONTWRITEBYTECODE: '1',
    LC_ALL: 'C.UTF-8',
  };
}
