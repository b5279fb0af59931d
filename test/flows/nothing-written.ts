/** Where nothing can be written: an installation with something of each kind, its commands, and a disk that is full. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { runCommand } from '../support/command.ts';
import type { Ended, ProgramOnDisk } from '../support/program.ts';
import { PASSWORD, REDIRECT_URI } from '../support/service.ts';

/** An installation with something of each kind; it answers the commands that write, and those that only read. */
export async function inhabited(program: ProgramOnDisk, variables: Record<string, string> = {}) {
  const json = async (words: string[], input = '') => {
    const { code, stdout, stderr } = await runCommand(
      [...words, '--json'],
      { ...program.variables, ...variables },
      input,
    );
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout) as object;
  };
  const id = async (...words: string[]) =>
    Object.values(await json(words)).find((text) => /^(app|rs)_/.test(`${text}`));
  await json(['user', 'add', '--email', 'ada@example.com', '--name', 'Ada', '--password-stdin'], PASSWORD);
  const client = String(await id('client', 'register', '--name', 'App', '--redirect-uri', REDIRECT_URI));
  const api = String(await id('resource-server', 'register', '--name', 'API'));
  await json(['scope', 'define', 'read', '--sentence', 'Read']);
  const product = ['--id', 'product', '--name', 'Photos', '--sign-in-url', 'https://app.example/sign-in'];
  await json(['identity-provider', 'register', ...product]);
  const people = join(program.folder, 'people.jsonl');
  writeFileSync(people, JSON.stringify({ email: 'grace@example.com', password_hash: `$2b$10$${'a'.repeat(53)}` }));
  const writing = [
    ['client', 'register', '--name', 'Other', '--redirect-uri', REDIRECT_URI],
    ['client', 'update', client, '--name', 'Renamed'],
    ['client', 'rotate-secret', client],
    ['client', 'rotate-secret', client, '--hand-over'],
    ['client', 'pause', client],
    ['client', 'revoke-grants', client, '--yes'],
    ['client', 'delete', client, '--yes'],
    ['resource-server', 'register', '--name', 'Other'],
    ['resource-server', 'update', api, '--name', 'Renamed'],
    ['resource-server', 'rotate-secret', api],
    ['resource-server', 'delete', api, '--yes'],
    ['scope', 'define', 'write', '--sentence', 'Write'],
    ['user', 'add', '--email', 'bob@example.com', '--name', 'Bob', '--password-stdin'],
    ['user', 'import', people],
    ['user', 'link', 'ada@example.com', '--provider', 'product', '--subject', '4711'],
    ['user', 'update', 'ada@example.com', '--name', 'Renamed'],
    ['user', 'set-password', 'ada@example.com', '--password-stdin'],
    ['user', 'invite', 'ada@example.com'],
    ['user', 'disable', 'ada@example.com'],
    ['user', 'end-sessions', 'ada@example.com'],
    ['user', 'revoke-grants', 'ada@example.com', '--yes'],
    ['user', 'delete', 'ada@example.com', '--yes'],
    ['grant', 'revoke', '--all', '--yes'],
    ['database', 'note-backup'],
    ['database', 'restore', '--yes'],
  ];
  const reading = [
    ['client', 'list'],
    ['client', 'show', client],
    ['user', 'list'],
    ['user', 'import', '--status'],
    ['grant', 'list'],
    ['scope', 'list'],
    ['resource-server', 'list'],
    ['audit', 'list'],
    ['database', 'check'],
    ['database', 'migrate'],
  ];
  return { writing, reading };
}

/** One sentence for people, and no trace of the program's own. */
export function assertSentence({ code, stderr }: Pick<Ended, 'code' | 'stderr'>, words: readonly string[]): void {
  const about = `${words.join(' ')}: ${stderr}`;
  assert.equal(code, 1, about);
  assert.match(stderr, /^valetkey: [^\n]+\n$/, about);
  assert.doesNotMatch(stderr, /\n? {4}at |Error:/, about);
}

/** In this process: there are a hundred commands. */
export function run(program: ProgramOnDisk, words: string[], variables: Record<string, string>) {
  const input = words.includes('--password-stdin') ? 'another long password\n' : '';
  return runCommand(words, { ...program.variables, ...variables }, input);
}

/** A folder that is a file system of its own, so large (MB) and no larger, until the test ends; or why there is none. */
export function smallDisk(t: TestContext, size: number): { readonly folder: string } | { readonly whyNot: string } {
  const folder = mkdtempSync(join(tmpdir(), 'valetkey-disk-'));
  t.after(() => {
    spawnSync('umount', ['--lazy', folder]);
    rmSync(folder, { recursive: true });
  });
  const { status, stderr, error } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}m`, 'none', folder]);
  return status === 0 ? { folder } : { whyNot: `no small disk can be mounted: ${error?.message ?? stderr}` };
}

/** Writes until not one byte more fits. */
export function fill(path: string): void {
  const descriptor = openSync(path, 'w');
  try {
    for (const bytes of [65_536, 4096, 1]) {
      try {
        for (;;) writeSync(descriptor, Buffer.alloc(bytes));
      } catch (error) {
        assert.equal((error as NodeJS.ErrnoException).code, 'ENOSPC');
      }
    }
  } finally {
    closeSync(descriptor);
  }
}
