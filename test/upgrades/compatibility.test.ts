/** docs/reference/compatibility.md: what a released version offers to programs, this version offers too. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { breaksOfApi, breaksOfOutput, factsOfApi, factsOfJson } from './differences.ts';
import { type Faces, facesOf } from './faces.ts';
import { fill } from './fill.ts';
import { keptFaces, keptVersions } from './kept.ts';

/**
 * Ends that were announced: each difference as the test names it, with the version that announced it in its changelog, and the
 * version that may end it.
 */
const ANNOUNCED: Readonly<Record<string, string>> = {};

const folder = mkdtempSync(join(tmpdir(), 'valetkey-faces-'));
after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

describe('compatibility: nothing that a kept version offered is gone or different', () => {
  let now: Faces;
  before(async () => {
    const url = `sqlite:${join(folder, 'valetkey.db')}`;
    const { rootKey } = await fill(url);
    now = await facesOf({ VALETKEY_DATABASE_URL: url, VALETKEY_KEYS: rootKey });
  });

  for (const version of keptVersions()) {
    const kept = keptFaces(version);
    if (kept === null) continue;
    const differences: Readonly<Record<string, () => string[]>> = {
      'the APIs': () => breaksOfApi(factsOfApi(kept.api as never), factsOfApi(now.api as never)),
      "the operators' API": () =>
        breaksOfApi(factsOfApi(kept.operatorApi as never), factsOfApi(now.operatorApi as never)),
      'the settings': () => breaksOfOutput(new Set(kept.settings), new Set(now.settings)),
      'what commands print with --json': () => breaksOfOutput(new Set(kept.json), new Set(now.json)),
    };
    for (const [face, find] of Object.entries(differences))
      test(`${face}, of ${version}`, () => {
        const unannounced = find().filter((difference) => !(difference in ANNOUNCED));
        assert.deepEqual(
          unannounced,
          [],
          'keep it beside the new one, or announce its end (docs/reference/compatibility.md)',
        );
      });
  }
});

const api = (request: object, response: object, more: object = {}) =>
  factsOfApi({
    paths: {
      '/a': {
        post: {
          requestBody: { content: { json: { schema: { $ref: '#/components/schemas/A' } } } },
          responses: { 200: { content: { json: { schema: response } } }, ...more },
        },
      },
    },
    components: { schemas: { A: request } },
  } as never);

test('compatibility: a difference of an API that is no addition is named', () => {
  const usual = { properties: { x: { type: 'string' } }, required: ['x'] };
  const kept = api(usual, usual);
  assert.deepEqual(breaksOfApi(kept, kept), []);
  const wider = { properties: { x: { type: 'string' }, y: { type: 'string', maxLength: 3 } } };
  assert.deepEqual(breaksOfApi(kept, api(wider, { ...usual, ...wider, required: ['x', 'y'] }, { 404: {} })), []);
  assert.deepEqual(breaksOfApi(kept, api({ ...usual, required: ['x', 'y'] }, usual)), [
    'demanded: POST /a request json.required="y"',
  ]);
  const longer = { properties: { x: { type: 'string', maxLength: 3 } }, required: ['x'] };
  assert.deepEqual(breaksOfApi(kept, api(longer, usual)), ['demanded: POST /a request json.x.maxLength=3']);
  assert.deepEqual(breaksOfApi(kept, api(usual, { properties: { x: { type: 'integer' } } })), [
    'gone: POST /a response 200 json.x.type="string"',
    'gone: POST /a response 200 json.required="x"',
  ]);
  assert.deepEqual(breaksOfApi(kept, api({ properties: {} }, usual)), [
    'gone: POST /a request json.x',
    'gone: POST /a request json.x.type="string"',
  ]);
});

test('compatibility: a key that a command prints no more, another type, and another default are named', () => {
  const kept = factsOfJson('a list', [{ id: 'x', at: 1 }]);
  assert.deepEqual(breaksOfOutput(kept, factsOfJson('a list', [{ id: 'x', at: 1, more: [{}] }])), []);
  assert.deepEqual(breaksOfOutput(kept, factsOfJson('a list', [{ id: null }])), [
    'gone: a list[].at',
    'changed: a list[].id: null',
  ]);
  assert.deepEqual(breaksOfOutput(new Set(['A: 1', 'B: 2']), new Set(['A: 3', 'C: 1'])), ['gone: B', 'changed: A: 3']);
});
