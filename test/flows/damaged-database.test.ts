/** `database check` and `doctor` report on a database file that is damaged, wherever that is, and change nothing. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ProgramOnDisk } from '../support/program.ts';

/** What is overwritten of a file. */
const DAMAGES: Readonly<Record<string, (file: Buffer) => Buffer>> = {
  'its header': (file) => file.fill(0x20, 0, 16),
  'the page of its schema': (file) => file.fill(0xff, 100, 4096),
  'all pages but the first': (file) => file.fill(0xff, 4096),
  'its second half, cut off': (file) => file.subarray(0, Math.floor(file.length / 8192) * 4096),
  'all of it': (file) => file.fill('not a database '),
};

for (const [what, damage] of Object.entries(DAMAGES))
  test(`operating: a database file that lost ${what} still gives a report, with the remedy`, async (t) => {
    const program = await ProgramOnDisk.make(t);
    await program.json(['database', 'migrate']);
    const path = join(program.folder, 'data/valetkey.db');
    writeFileSync(path, damage(readFileSync(path)));
    const before = readFileSync(path);
    const { code, stdout, stderr } = await program.command(['database', 'check', '--json']);
    assert.equal(code, 1, stderr);
    const results = JSON.parse(stdout) as { name: string; ok: boolean; detail: string }[];
    const integrity = results.find(({ name }) => name === 'integrity');
    assert.equal(integrity?.ok, false, stdout);
    assert.match(stdout, /restore a backup|database restore/);
    assert.match((await program.command(['database', 'check'])).stdout, /^WRONG +integrity/m);

    const doctor = await program.command(['doctor', '--json']);
    assert.equal(doctor.code, 1, doctor.stderr);
    const findings = JSON.parse(doctor.stdout) as { area: string; verdict: string; remedy: string | null }[];
    assert.ok(
      findings.some(({ area, verdict, remedy }) => area === 'database' && verdict === 'wrong' && remedy),
      doctor.stdout,
    );
    assert.ok(findings.some(({ area }) => area === 'configuration'));
    assert.deepEqual(readFileSync(path), before, 'nothing of the file is changed');
  });
