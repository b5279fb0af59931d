/** The commands of docs/agents.md, run as they are written. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { PUBLISHED } from '../clients/published-documents.ts';
import { ProgramOnDisk } from '../support/program.ts';

const TEXT = readFileSync(new URL('../../docs/agents.md', import.meta.url), 'utf8');
const COMMANDS = [...TEXT.matchAll(/`valetkey (client register [^`]*)`/g)].map(([, command = '']) => command);
/** What the reader puts in: NAME, URI, https://HOST/PATH, and the ID of Codex. */
const PLACEHOLDERS = /\b(NAME|URI|HOST|PATH|ID)\b/;
const wordsOf = (command: string) => (command.match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replaceAll('"', ''));

test('docs/agents.md: each command for an agent registers a public app', async (t) => {
  const program = await ProgramOnDisk.make(t);
  const complete = COMMANDS.filter((command) => command.includes('--name') && !PLACEHOLDERS.test(command));
  assert.ok(complete.length >= 7, String(complete));
  for (const command of complete) {
    const words = [...wordsOf(command), '--json'];
    const { code, stdout, stderr } = await program.command(words);
    assert.equal(code, 0, `${command}: ${stderr}`);
    assert.equal(JSON.parse(stdout).client_secret, null, command);
  }
});

test('docs/agents.md: each address of a document is that of a document that is tested', () => {
  const addresses = COMMANDS.flatMap((command) => /--from (\S+)/.exec(command)?.[1] ?? []);
  assert.ok(addresses.length >= 5);
  const tested = Object.values(PUBLISHED).map(({ members }) => members.client_id);
  for (const address of addresses) assert.ok(tested.includes(address), address);
});
