/** The table of guards is up to date: each stands in its file, once, and the tests that are to notice are there. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { takeOut } from './guard.ts';
import { GUARDS } from './table.ts';

for (const [area, guards] of Object.entries(GUARDS))
  test(`each of the ${guards.length} guards of ${area} can be taken out: mend test/guards/${area}.ts after a change`, () => {
    for (const guard of guards) {
      assert.notEqual(guard.text, guard.without);
      takeOut(guard, readFileSync(guard.file, 'utf8'));
      for (const path of guard.tests) assert.ok(existsSync(path), path);
    }
    const known = new Set(guards.map(({ file, text, without }) => `${file} ${text} ${without}`));
    assert.equal(known.size, guards.length, 'a guard stands twice in the table');
  });
