/** Reads files that hold a secret, if nobody else can read them. */
import { readFileSync, type Stats, statSync } from 'node:fs';
import { InstallationError } from './installation-error.ts';

const OTHERS_MAY = 0o007;
const GROUP_MAY_CHANGE = 0o030;
const GROUP_MAY_READ = 0o040;
const ROOT = 0;

/**
 * Returns the text of a secret file, which messages call `what`; null if there is none. Throws `InstallationError` if
 * others can read it, or this process cannot. Its group may read it only if root owns it: systemd hands out
 * credentials this way, and an administrator gives a file to one service's group.
 */
export function readSecretFile(path: string, what: string): string | null {
  try {
    const found = statSync(path);
    if (!found.isFile())
      throw new InstallationError({ problem: `${what} ${path} is not a file`, remedy: 'name the file itself' });
    if (process.platform !== 'win32' && isExposed(found))
      throw new InstallationError({
        problem: `${whoMay(found)} ${what} ${path}`,
        remedy: `${remedy(found, path)}, and consider it leaked if somebody else uses this machine`,
      });
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof InstallationError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    throw new InstallationError({
      problem: `${what} ${path} cannot be read (${code})`,
      remedy: 'let the user who runs Valetkey read it',
    });
  }
}

/** Returns the beginning of a sentence about an excessive permission. */
function whoMay({ mode }: Pick<Stats, 'mode'>): string {
  const acts = [mode & 0o044 && 'read', mode & 0o022 && 'change', mode & 0o011 && 'run'].filter(Boolean);
  return `${mode & OTHERS_MAY ? 'others' : 'its group'} can ${acts.join(' and ')}`;
}

/** A process that is not root reads a file of root's only by its group. */
function remedy({ uid }: Pick<Stats, 'uid'>, path: string): string {
  const isRoots = uid === ROOT && process.geteuid?.() !== ROOT;
  return isRoots ? `run "chmod 640 ${path}", and give it to a group of this user` : `run "chmod 600 ${path}"`;
}

function isExposed({ mode, uid }: Pick<Stats, 'mode' | 'uid'>): boolean {
  return (mode & (OTHERS_MAY | GROUP_MAY_CHANGE)) !== 0 || ((mode & GROUP_MAY_READ) !== 0 && uid !== ROOT);
}
