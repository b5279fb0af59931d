/** Debian's packages for these tests, unpacked by `npm run test:failover` into a folder that VALETKEY_FAILOVER_PACKAGES names. */
import { join } from 'node:path';

const UNPACKED = process.env['VALETKEY_FAILOVER_PACKAGES'];

/** Whether the packages are there. */
export const areThere = UNPACKED !== undefined;

/** A file of the packages. */
export function unpacked(path: string): string {
  return join(UNPACKED ?? '/', path);
}

/** The user that programs which refuse to be root run as. */
export const NOBODY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/** The environment in which programs of the packages find their libraries. */
export function environment(): Record<string, string> {
  return {
    PATH: `${unpacked('usr/lib/postgresql/15/bin')}:/usr/bin:/bin`,
    LD_LIBRARY_PATH: unpacked(`usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu`),
    PYTHONPATH: unpacked('usr/lib/python3/dist-packages'),
    PYTHONDONTWRITEBYTECODE: '1',
    LC_ALL: 'C.UTF-8',
  };
}
