/** The commands that the program has, as its own help lists them. */
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import type { CommandContext } from '../../src/cli/command/context.ts';
import { runProgram } from '../../src/cli/program.ts';
import { Collector } from '../cli/collector.ts';

/** Every command of the program with its options, as its own help tells them; those that all have are left out. */
export async function commandsOfProgram(): Promise<Map<string, string[]>> {
  const commands = new Map<string, string[]>();
  const add = async (...words: string[]): Promise<void> => {
    const text = await help(...words);
    const inner = commandNames(text);
    if (inner.length === 0) commands.set(words.join(' '), optionNames(text));
    for (const one of inner) await add(...words, one);
  };
  await add();
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
  const stdout = new Collector();
  const refused = () => Promise.reject(new Error('help opens nothing'));
  const context: CommandContext = {
    stdin: Readable.from([]),
    stdout,
    stderr: stdout,
    now: () => 0,
    caller: { programName: 'valetkey', npmConfig: null },
    open: refused,
    serve: refused,
    demo: refused,
    database: {
      ...{ migrate: refused, check: refused, adoptSettings: refused, copy: refused },
      ...{ backUp: refused, noteBackup: refused, restore: refused },
    },
    doctor: refused,
    scanRules: () => [],
    keys: { generate: refused, rotate: refused, retire: refused },
  };
  assert.equal(await runProgram([...command, '--help'], context), 0, stdout.text);
  return stdout.text;
}
