import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSameResource, resourceProblem } from '../../src/oauth/resource-servers/resource-uri.ts';

const pairs: [one: string, other: string, same: boolean][] = [
  ['https://api.test', 'https://api.test/', true],
  ['https://api.test', 'HTTPS://API.test', true],
  ['https://api.test', 'https://api.test:443', true],
  ['https://api.test', 'https://api.test:', true],
  ['http://api.test', 'http://api.test:80/', true],
  ['https://api.test?x=1', 'https://api.test/?x=1', true],
  ['https://api.test/v1', 'https://API.test:443/v1', true],
  ['https://[2001:DB8::1]/v1', 'https://[2001:db8::1]:443/v1', true],
  ['URN:example:a', 'urn:example:a', true],
  ['https://api.test', 'http://api.test', false],
  ['https://api.test', 'https://api.test:8443', false],
  ['https://api.test:80', 'https://api.test', false],
  ['https://api.test', 'https://api.test.evil.test', false],
  ['https://api.test', 'https://other@api.test', false],
  ['https://A@api.test', 'https://a@api.test', false],
  ['https://api.test/v1', 'https://api.test/V1', false],
  ['https://api.test/v1', 'https://api.test/v1/', false],
  ['https://api.test/v1', 'https://api.test/x/../v1', false],
  ['https://api.test/v1', 'https://api.test/%761', false],
  ['https://api.test/a%2fb', 'https://api.test/a%2Fb', false],
  ['https://api.test/', 'https://api.test//', false],
  ['https://api.test?X=1', 'https://api.test?x=1', false],
  ['urn:example:a', 'urn:example:A', false],
  ['urn:example', 'urn://example', false],
];
for (const [one, other, same] of pairs)
  test(`RFC 3986 §6.2.3, RFC 8707 §2, §3: ${one} and ${other} are ${same ? 'one resource' : 'two resources'}`, () => {
    assert.equal(isSameResource(one, other), same);
    assert.equal(isSameResource(other, one), same);
  });

const resources: [string, RegExp | null][] = [
  ['https://letters.test', null],
  ['https://letters.test/v1?x=1', null],
  ['urn:example:letters', null],
  [`https://letters.test/${'x'.repeat(479)}`, null],
  [`https://letters.test/${'x'.repeat(480)}`, /1 to 500/],
  ['', /1 to 500/],
  ['https://letters.test/a b', /1 to 500/],
  ['https://bücher.test', /1 to 500/],
  ['https://letters.test\n', /1 to 500/],
  ['letters', /absolute URI/],
  ['/letters', /absolute URI/],
  ['//letters.test', /absolute URI/],
  ['https://', /absolute URI/],
  ['https://letters.test#', /fragment/],
  ['https://letters.test#x', /fragment/],
];
for (const [resource, problem] of resources) {
  test(`RFC 8707 §2, RFC 9728 §1.2: ${JSON.stringify(resource.slice(0, 40))} (${resource.length}) ${problem ? 'cannot name' : 'can name'} a resource`, () => {
    const found = resourceProblem(resource);
    if (problem) assert.match(found ?? '', problem);
    else assert.equal(found, null);
  });
}
