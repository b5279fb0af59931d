import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listedGrants } from '../../src/cli/grants/grant-view.ts';
import { inContext } from '../oauth/samples.ts';
import { sampleGrant } from '../support/storage.ts';

test('a list of grants says at which provider people signed in, where there is one', () => {
  const listed = (providerId: string | null) => ({
    ...inContext(sampleGrant({ providerId })),
    clientName: 'Acme Mail',
  });
  const lines = (...grants: ReturnType<typeof listed>[]) => listedGrants(grants, 0, 200).text ?? [];
  const [heading = '', here = '', there = ''] = lines(listed(null), listed('photos'));
  assert.match(heading, /Signed in at$/);
  assert.match(there, / photos$/);
  assert.doesNotMatch(here, /photos/);
  assert.doesNotMatch(String(lines(listed(null))), /Signed in at/, 'nothing is said where everybody signs in here');
});
