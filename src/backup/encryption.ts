/** Encrypts a backup with GnuPG under a passphrase (OpenPGP, RFC 9580 §5.3), and proves that it opens again. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { InstallationError } from '../process/installation-error.ts';
import { readSecretFile } from '../process/secret-file.ts';
import { digestOf } from './file-named-when-complete.ts';

const GPG = ['--batch', '--quiet', '--no-tty', '--no-symkey-cache', '--pinentry-mode', 'loopback'];
/**
 * AES-256 under a key of 65 million rounds of SHA-512; GnuPG adds protection against changes. Databases hardly
 * compress.
 */
const SYMMETRIC = ['--symmetric', '--cipher-algo', 'AES256', '--s2k-digest-algo', 'SHA512', '--s2k-count', '65011712'];

/** Minimum size of a passphrase (bytes): an attacker can guess at a backup for years. */
const MIN_PASSPHRASE_BYTES = 16;

/** Throws an `InstallationError` unless the first line of the file is a passphrase, and nobody else can read it. */
export function requirePassphrase(file: string): void {
  const [passphrase = ''] = readSecretFile(file, 'the passphrase in')?.split('\n') ?? [];
  if (Buffer.byteLength(passphrase) < MIN_PASSPHRASE_BYTES)
    throw new InstallationError({
      problem: `there is no passphrase of ${MIN_PASSPHRASE_BYTES} characters or more in ${file}`,
      remedy: `make one with "(umask 077; openssl rand -base64 32 > ${file})"`,
    });
}

/** Writes an encrypted copy of a file to a new file with mode 0600. Throws `InstallationError`. */
export async function encrypt(from: string, to: string, passphraseFile: string): Promise<void> {
  // GnuPG needs a folder of its own, and must not touch the user's keys.
  const home = mkdtempSync(join(tmpdir(), 'valetkey-gpg-'));
  try {
    const gpg = (...words: string[]) => run([...GPG, '--homedir', home, '--passphrase-file', passphraseFile, ...words]);
    await gpg(...SYMMETRIC, '--compress-algo', 'none', '--output', to, from);
    chmodSync(to, 0o600);
    const opened = await gpg('--decrypt', to);
    if (opened !== (await digestOf(from)))
      throw new InstallationError({
        problem: 'the encrypted backup differs from the original when it is opened',
        remedy: 'check the disk, and run this again',
      });
  } finally {
    await run(['--homedir', home, '--kill', 'gpg-agent'], 'gpgconf').catch(() => {});
    rmSync(home, { recursive: true, force: true });
  }
}

/** Runs GnuPG, and returns the SHA-256 of what it prints. */
async function run(words: readonly string[], program = 'gpg'): Promise<string> {
  const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'pipe'] });
  const digest = createHash('sha256');
  const ended = new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve));
  try {
    const [code, said] = await Promise.all([ended, text(child.stderr), pipeline(child.stdout, digest)]);
    if (code !== 0)
      throw new InstallationError({ problem: `gpg failed (${said.trim().replaceAll('\n', '; ')})`, remedy: null });
    return digest.digest('hex');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new InstallationError({
      problem: 'an encrypted backup needs GnuPG, and there is no gpg here',
      remedy: 'install it, or encrypt the file elsewhere',
    });
  }
}
