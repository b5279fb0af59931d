import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { chooseLanguage, languages, messagesFor } from '../../src/pages/messages/messages.ts';

const choices: [header: string | undefined, language: string][] = [
  [undefined, 'en'],
  ['', 'en'],
  ['*', 'en'],
  ['ar', 'ar'],
  ['AR-eg', 'ar'],
  ['ar-EG,ar;q=0.9,en-US;q=0.8,en;q=0.7', 'ar'],
  ['en-GB, ar', 'en'],
  ['ar, en', 'ar'],
  ['en;q=0.5, ar;q=0.8', 'ar'],
  ['de, fr;q=0.9, ar;q=0.1', 'ar'],
  ['de, *;q=0.5', 'en'],
  ['en;q=0, *', 'ar'],
  ['ar;q=0', 'en'],
  ['ar;q=0, en;q=0', 'en'],
  ['ar;q=0.001, en;q=0', 'ar'],
  ['ar ; q=1.000 ,en;q=0.999', 'ar'],
  ['arabic', 'en'],
  ['ar;q=2', 'en'],
  ['ar;q=-1', 'en'],
  ['ar;q=0.12345', 'en'],
  ['ar;level=1', 'en'],
  ['<script>, ar\u0000', 'en'],
  [`${'de,'.repeat(400)}ar`, 'en'],
];

for (const [header, language] of choices) {
  test(`Accept-Language ${JSON.stringify(header)?.slice(0, 60)} is answered in ${language}`, () => {
    assert.equal(chooseLanguage(header), language);
  });
}

test('any Accept-Language is answered in some language', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (header) => assert.ok(languages.includes(chooseLanguage(header)))),
  );
});

/** Every text of a table by its path; functions are called with what fits their kind. */
function texts(value: unknown, path = ''): [path: string, text: string][] {
  if (typeof value === 'function') {
    const takesNumbers = /day|ago|minute|second|duration|throttled|rate|waitAndRetry/.test(path);
    return [[path, String(takesNumbers ? value(120, 60) : value('One', 'Two'))]];
  }
  if (typeof value === 'string') return [[path, value]];
  const entries = Object.entries(value as object);
  return entries.length === 0
    ? [[path, String(value)]]
    : entries.flatMap(([key, each]) => texts(each, `${path}.${key}`));
}

test('every language says everything', () => {
  const paths = texts(messagesFor('en')).map(([path]) => path);
  for (const language of languages) {
    const table = texts(messagesFor(language));
    assert.deepEqual(
      table.map(([path]) => path),
      paths,
    );
    for (const [path, text] of table)
      assert.ok(text.trim() !== '' && !text.includes('undefined'), `${language}${path}`);
  }
});

test('waiting is counted in the grammar of the language', () => {
  const minutes = [1, 2, 3, 10, 11, 100];
  const said = (language: 'en' | 'ar') => minutes.map((each) => messagesFor(language).errors.waitAndRetry(each * 60));
  assert.deepEqual(
    said('en').map((text) => /wait (.*) and/.exec(text)?.[1]),
    ['a minute', '2 minutes', '3 minutes', '10 minutes', '11 minutes', '100 minutes'],
  );
  assert.deepEqual(
    said('ar').map((text) => /بعد (.*)\./.exec(text)?.[1]),
    ['دقيقة واحدة', 'دقيقتين', '3 دقائق', '10 دقائق', '11 دقيقة', '100 دقيقة'],
  );
  assert.equal(messagesFor('en').errors.waitAndRetry(0), messagesFor('en').errors.waitAndRetry(60));
  assert.equal(messagesFor('en').errors.waitAndRetry(61), messagesFor('en').errors.waitAndRetry(120));
});

test('a length of time is said in the largest unit that fits', () => {
  const { duration } = messagesFor('en');
  assert.deepEqual([10, 60, 90, 1_800, 43_200, 2_592_000, 0].map(duration), [
    '10 seconds',
    '1 minute',
    '90 seconds',
    '30 minutes',
    '12 hours',
    '30 days',
    '0 seconds',
  ]);
});
