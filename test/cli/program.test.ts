import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { CommandContext } from '../../src/cli/command/context.ts';
import { runProgram } from '../../src/cli/program.ts';
import { StoreUnavailable } from '../../src/oauth/store.ts';
import { InstallationError } from '../../src/process/installation-error.ts';
import { commandsOfProgram } from '../support/commands.ts';
import { Collector } from './collector.ts';

const COMMANDS = [...(await commandsOfProgram()).keys()];

/** Runs a command line whose installation cannot be opened, for the given reason. */
async function run(line: string, reason?: Error, more: Partial<CommandContext> = {}) {
  const stdout = new Collector();
  const stderr = new Collector();
  const open = async () => {
    throw reason ?? new Error('the installation was opened');
  };
  const caller = { programName: 'valetkey', npmConfig: null };
  const context = { stdout, stderr, open, caller, ...more } as unknown as CommandContext;
  const code = await runProgram(line.split(' '), context);
  return { code, stdout: stdout.text, stderr: stderr.text };
}

describe('every command', () => {
  for (const command of COMMANDS) {
    it(`${command} explains itself, and opens nothing for that`, async () => {
      const { code, stdout, stderr } = await run(`${command} --help`);
      assert.equal(code, 0);
      assert.equal(stderr, '');
      assert.match(stdout, new RegExp(`^Usage: valetkey ${command}\\b.*\n\n[A-Z][^]*?\\.\n`));
      assert.match(stdout, /--json/);
      assert.match(stdout, new RegExp(`\n\nExamples:\n {2}valetkey ${command}\\b`));
    });

    it(`${command} is explained by "help" before it in the same words`, async () => {
      assert.deepEqual(await run(`help ${command}`), await run(`${command} --help`));
    });

    it(`${command} refuses an unknown option in one sentence, and opens nothing for that`, async () => {
      const { code, stdout, stderr } = await run(`${command} some --no-such-thing`);
      assert.equal(code, 2);
      assert.equal(stdout, '');
      assert.match(stderr, new RegExp(`^valetkey: .*; see "valetkey ${command} --help"\n$`));
    });
  }
});

describe('what goes wrong', () => {
  it('is said of a file that the user may not use, with where to put it', async () => {
    const closed = Object.assign(new Error("EACCES: permission denied, stat '/root/trail.jsonl'"), {
      ...{ code: 'EACCES', syscall: 'stat', path: '/root/trail.jsonl' },
    });
    const { code, stderr } = await run('client list', closed);
    assert.equal(code, 1);
    assert.equal(
      stderr,
      'valetkey: this user has no permission to access /root/trail.jsonl (EACCES): move it, or run the command as another user\n',
    );
  });

  it('is told in the words of the refusal', async () => {
    const { code, stdout, stderr } = await run(
      'client list --json',
      new InstallationError({ problem: 'the keys file is missing', remedy: 'restore it: now' }),
    );
    assert.deepEqual([code, stdout, stderr], [1, '', 'valetkey: the keys file is missing: restore it: now\n']);
  });

  it('is told all at once', async () => {
    const faults = ['one \u001b[2J', 'two'].map((problem) => ({ problem, remedy: null }));
    const { stderr } = await run('client list', new InstallationError(...faults));
    assert.equal(stderr, 'valetkey:\n- one \\u001b[2J\n- two\n');
  });

  it('is told of a store that is away', async () => {
    const { code, stderr } = await run('client list', new StoreUnavailable('the disk is full'));
    assert.equal(code, 1);
    assert.equal(
      stderr,
      'valetkey: the database is unavailable, and nothing was changed: try again (the disk is full)\n',
    );
  });

  it('comes through as it is when it is a mistake of the program', async () => {
    await assert.rejects(run('client list', new TypeError('undefined is not a function')), TypeError);
  });
});

describe('the commands that keep running', () => {
  it('answer the exit code of what ran', async () => {
    const asked: unknown[] = [];
    const serve = async (options: unknown) => asked.push(options) - 1;
    assert.equal((await run('serve', undefined, { serve })).code, 0);
    assert.equal((await run('serve --json', undefined, { serve })).code, 1);
    await run('demo --headless', undefined, { demo: serve });
    assert.deepEqual(asked, [
      { json: false },
      { json: true },
      { headless: true, product: false, operator: false, json: false },
    ]);
  });
});

describe('what checks find wrong', () => {
  it('is shown, with exit code 1', async () => {
    const check = async () => [
      { name: 'integrity', ok: true, detail: 'sound' },
      { name: 'keys', ok: false, detail: 'one is missing' },
    ];
    const { code, stdout, stderr } = await run('database check', undefined, {
      database: { check } as unknown as CommandContext['database'],
    });
    assert.equal(code, 1);
    assert.equal(stdout, 'Result  Check      Found\nok      integrity  sound\nWRONG   keys       one is missing\n');
    assert.equal(stderr, 'valetkey: 1 of 2 checks failed\n');
  });
});

it('is a process like any other: arguments, pipes, exit code', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'valetkey-process-'));
  const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
  const start = (line: string) =>
    promisify(execFile)(process.execPath, [main, ...line.split(' ')], { cwd: folder, env: {} });
  try {
    await start('database migrate');
    const adding = start('user add --email ada@example.com --name Ada --password-stdin --json');
    adding.child.stdin?.end('correct horse battery staple\n');
    assert.equal(JSON.parse((await adding).stdout).password, null);
    const refused = { code: 1, stdout: '', stderr: /^valetkey: there is no account "nobody".*\n$/ };
    await assert.rejects(start('user show nobody'), refused);
    const made = JSON.parse((await start('keys generate --file more-keys --json')).stdout);
    assert.deepEqual(made, { key: null, file: 'more-keys' });
  } finally {
    await rm(folder, { recursive: true });
  }
});
