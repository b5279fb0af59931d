import assert from 'node:assert/strict';
import { test } from 'node:test';
import manifest from '../../package.json' with { type: 'json' };
import { nodeProblem, REQUIRED_NODE } from '../../src/process/required-node.ts';

test('a Node.js that runs the sources and lacks something is refused in one sentence with the remedy', () => {
  assert.equal(manifest.engines.node, `>=${REQUIRED_NODE}`);
  for (const version of ['22.18.0', '23.11.1', '24.0.0', '24.14.9'])
    assert.match(nodeProblem(version) ?? '', /^this is Node\.js [0-9.]+: install 24\.15 or later, /);
  for (const version of ['24.15.0', '24.21.3', '26.0.0', process.versions.node])
    assert.equal(nodeProblem(version), null);
});
