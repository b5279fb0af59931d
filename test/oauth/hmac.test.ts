import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { HmacKey } from '../../src/oauth/hmac.ts';

const anyPart = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
);

/** RFC 4231 §4.2 to §4.5: test cases with keys of up to 64 bytes. */
const VECTORS: [key: string, data: string, digest: string][] = [
  ['0b'.repeat(20), '4869205468657265', 'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7'],
  [
    '4a656665',
    '7768617420646f2079612077616e7420666f72206e6f7468696e673f',
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  ],
  ['aa'.repeat(20), 'dd'.repeat(50), '773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe'],
  [
    '0102030405060708090a0b0c0d0e0f10111213141516171819',
    'cd'.repeat(50),
    '82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b',
  ],
];

test('RFC 2104: the digests are those of RFC 4231', () => {
  for (const [key, data, digest] of VECTORS)
    assert.equal(new HmacKey(Buffer.from(key, 'hex')).digest(Buffer.from(data, 'hex')).toString('hex'), digest);
});

test("RFC 2104: for every key and all parts the digest is that of Node.js's own HMAC", () => {
  const anyKey = fc.uint8Array({ maxLength: 64 });
  fc.assert(
    fc.property(anyKey, fc.array(fc.array(anyPart, { maxLength: 4 }), { maxLength: 5 }), (bytes, messages) => {
      const key = new HmacKey(Buffer.from(bytes));
      // One after the other with one key: none leaves anything behind for the next.
      for (const parts of messages) {
        const expected = createHmac('sha256', bytes);
        for (const part of parts) expected.update(part);
        assert.deepEqual(key.digest(...parts), expected.digest());
      }
    }),
  );
});

test('RFC 2104: a digest stays as it is when the key makes another', () => {
  const key = new HmacKey(Buffer.alloc(32, 7));
  const first = key.digest('one');
  const kept = first.toString('hex');
  key.digest('two');
  assert.equal(first.toString('hex'), kept);
});

test('RFC 2104: a key that would have to be hashed first is refused', () => {
  assert.throws(() => new HmacKey(Buffer.alloc(65)), RangeError);
});
