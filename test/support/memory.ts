/** Where files lie in memory: nothing waits for a disk there, and making a file costs little. */
import { existsSync, readFileSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';

const MEMORY = '/dev/shm';
/** What the tests of one run need at once, with room to spare (bytes). */
const ENOUGH = 4 * 2 ** 30;

/** The variable with the folder for what is about a disk, where all else lies in memory. */
export const DISK = 'TEST_DISK';

/** A folder on a disk, for tests in which a writer has to wait for it. */
export function diskFolder(): string {
  return process.env[DISK] ?? tmpdir();
}

/** A folder in memory, if there is one with enough room whose programs may run; or null. */
export function memory(): string | null {
  if (!existsSync(MEMORY) || !existsSync('/proc/mounts')) return null;
  const { bavail, bsize } = statfsSync(MEMORY);
  const mount = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .find((line) => line.split(' ')[1] === MEMORY);
  return mount && !/\bnoexec\b/.test(mount) && bavail * bsize >= ENOUGH ? MEMORY : null;
}
