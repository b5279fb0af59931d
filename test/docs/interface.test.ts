/** `docs/interface.md` against the program: its configuration table is the generated one, its command table is complete. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Readable, Writable } from 'node:stream';
import { test } from 'node:test';
import type { CommandContext } from '../../src/cli/context.ts';
import { runProgram } from '../../src/cli/program.ts';
import { configurationTable } from '../../src/settings/configuration.ts';

const DOCUMENT = readFileSync(new URL('../../docs/interface.md', import.meta.url), 'utf8');

test('the configuration table is the one that the program makes', () => {
  const [, documented] =
    /<!-- configuration: generated .*? -->\n(.*?)\n?<!-- configuration: end -->/s.exec(DOCUMENT) ?? [];
  const table = configurationTable();
  assert.equal(
    documented,
    table,
    `src/settings/configuration.ts changed: paste this between the two comments in docs/interface.md\n\n${table}\n`,
  );
});

test('every command stands in the command table with its options, and no other', async () => {
  const program = await commandsOfProgram();
  const documented = new Map(
    [...section('## Commands').matchAll(/^\| `([a-z -]+)` \| (.*) \|$/gm)].map(([, name = '', text = '']) => [
      name,
      text,
    ]),
  );
  assert.deepEqual([...documented.keys()].sort(), [...program.keys()].sort());
  for (const [name, options] of program) {
    for (const option of options) {
      const said = new RegExp(`(?<![a-z-])${option}(?![a-z-])`).test(documented.get(name) ?? '');
      assert.ok(said, `docs/interface.md: the row of "${name}" does not name ${option}`);
    }
  }
});

test('every path of a page or endpoint that the program serves is documented', () => {
  const folder = new URL('../../src/http/', import.meta.url);
  const paths = readFileSync(new URL('paths.ts', folder), 'utf8').matchAll(/_PATH = '([^']+)'/g);
  const served = [...paths].map(([, path = '']) => path).filter((path) => !path.startsWith('/assets/'));
  const routes = ['browser/sign-in.ts', 'api/health.ts', 'browser/public-pages.ts', 'browser/account.ts'].flatMap(
    (file) =>
      [...readFileSync(new URL(file, folder), 'utf8').matchAll(/app\.(?:get|post)\('(\/[^']*)'/g)].map(
        ([, path = '']) => path,
      ),
  );
  assert.ok(served.length >= 4 && routes.length >= 6, 'the routes were found in the code');
  for (const path of [...served, ...routes])
    assert.ok(DOCUMENT.includes(path), `docs/interface.md does not name ${path}`);
});

/** The text below a heading, up to the next one of its level. */
function section(heading: string): string {
  const [, text = ''] = DOCUMENT.split(`\n${heading}\n`);
  return text.split('\n## ')[0] ?? '';
}

/** Every command of the program with its options, as its own help tells them; those that all have are left out. */
async function commandsOfProgram(): Promise<Map<string, string[]>> {
  const commands = new Map<string, string[]>();
  for (const name of commandNames(await help())) {
    const text = await help(name);
    const inner = commandNames(text);
    if (inner.length === 0) commands.set(name, optionNames(text));
    for (const one of inner) commands.set(`${name} ${one}`, optionNames(await help(name, one)));
  }
  return commands;
}

function commandNames(text: string): string[] {
  const [, listed = ''] = text.split('\nCommands:\n');
  return [...(listed.split('\n\n')[0] ?? '').matchAll(/^ {2}([a-z-]+)/gm)]
    .map(([, name = '']) => name)
    .filter((name) => name !== 'help');
}

function optionNames(text: string): string[] {
  const [, listed = ''] = text.split('\nOptions:\n');
  return [...(listed.split('\n\n')[0] ?? '').matchAll(/^ {2}(?:-[a-z], )?(--[a-z-]+)/gm)]
    .map(([, name = '']) => name)
    .filter((name) => name !== '--help' && name !== '--json');
}

async function help(...command: string[]): Promise<string> {
  let written = '';
  const stdout = new Writable({
    write(chunk, _encoding, done) {
      written += chunk;
      done();
    },
  });
  const refused = () => Promise.reject(new Error('help opens nothing'));
  const context: CommandContext = {
    stdin: Readable.from([]),
    stdout,
    stderr: stdout,
    now: () => 0,
    open: refused,
    serve: refused,
    demo: refused,
    database: { migrate: refused, check: refused, adoptSettings: refused, copy: refused },
    keys: { generate: refused },
  };
  assert.equal(await runProgram([...command, '--help'], context), 0, written);
  return written;
}
