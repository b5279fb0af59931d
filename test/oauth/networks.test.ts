import assert from 'node:assert/strict';
import { test } from 'node:test';
import { networksOf, sourceOfAddress, widestNetworkOf } from '../../src/oauth/guessing/networks.ts';

const networks: [source: string, expected: [key: string, weight: number][]][] = [
  [
    '192.0.2.77',
    [
      ['192.0.2.77', 1],
      ['192.0.2.0/24', 32],
    ],
  ],
  [
    '2001:db8:12:3456::/64',
    [
      ['2001:db8:12:3456::/64', 1],
      ['2001:db8:12:3400::/56', 4],
      ['2001:db8:12::/48', 32],
    ],
  ],
  [
    '0:0:0:0::/64',
    [
      ['0:0:0:0::/64', 1],
      ['0:0:0:0::/56', 4],
      ['0:0:0::/48', 32],
    ],
  ],
  ['::1', [['::1', 1]]],
  ['', [['', 1]]],
  ['no address', [['no address', 1]]],
  ['1', [['1', 1]]],
];
for (const [source, expected] of networks)
  test(`design: the networks of "${source}", each with its weight`, () => {
    assert.deepEqual(
      networksOf(source).map(({ key, weight }) => [key, weight]),
      expected,
    );
    assert.equal(widestNetworkOf(source), expected.at(-1)?.[0]);
  });

test('design: a source is an IPv4 address, however it was mapped, a /64, or this machine alone', () => {
  for (const mapped of ['192.0.2.1', '::ffff:192.0.2.1', '::ffff:c000:201', '0:0:0:0:0:FFFF:C000:0201'])
    assert.equal(sourceOfAddress(mapped), '192.0.2.1');
  for (const address of ['2001:db8::1', '2001:DB8:0:0:ffff::', '2001:0db8:0000:0000:1:2:3:4', '2001:db8::1.2.3.4'])
    assert.equal(sourceOfAddress(address), '2001:db8:0:0::/64');
  for (const own of ['::1', '0:0:0:0:0:0:0:1']) assert.equal(sourceOfAddress(own), '::1');
  assert.equal(sourceOfAddress('::2'), '0:0:0:0::/64');
});
