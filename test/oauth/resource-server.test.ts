import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Refusal } from '../../src/oauth/error.ts';
import { grantIdText } from '../../src/oauth/grants/grant.ts';
import { scopeNames } from '../../src/oauth/grants/scope.ts';
import { makeSecret } from '../../src/oauth/keys/secret.ts';
import {
  authenticateResourceServer,
  isGoodAt,
  isGoodAtOwnApi,
  mayHearOf,
  type ResourceServer,
  visibleToken,
} from '../../src/oauth/resource-servers/resource-server.ts';
import { activeGrant, assertRefusal, inContext, NOW, PREFIX } from './samples.ts';

const first = makeSecret(PREFIX, 'rs', NOW);
const second = makeSecret(PREFIX, 'rs', NOW);
const server: ResourceServer = {
  id: 'rs_one',
  name: 'Letters',
  resource: null,
  acceptsUnbound: false,
  scopes: null,
  secrets: [first.secret],
  createdAt: NOW,
};
const { resourceOwner } = inContext(activeGrant);

test('RFC 7662 §2.1: a resource server authenticates with any of its live secrets', () => {
  assert.equal(authenticateResourceServer(server, { id: server.id, secret: first.text }), server);
  const both = { ...server, secrets: [second.secret, first.secret] };
  for (const { text } of [first, second])
    assert.equal(authenticateResourceServer(both, { id: server.id, secret: text }), both);
});

const asClient = makeSecret(PREFIX, 'cs', NOW);
const refused: [string, ResourceServer | null, string | undefined, string | undefined, RegExp][] = [
  ['no id', null, undefined, first.text, /no credentials/],
  ['no secret', server, server.id, undefined, /no credentials/],
  ['nothing', null, undefined, undefined, /no credentials/],
  ['an unknown id', null, 'rs_none', first.text, /no resource server/],
  ['a wrong secret', server, server.id, second.text, /is wrong/],
  ['an empty secret', server, server.id, '', /is wrong/],
  ['a space after it', server, server.id, `${first.text} `, /is wrong/],
  ['no secret left', { ...server, secrets: [] }, server.id, first.text, /is wrong/],
  ['a client’s secret', server, server.id, asClient.text, /is wrong/],
  ['its digest', server, server.id, first.secret.digest.toString('base64url'), /is wrong/],
];
for (const [name, by, id, secret, detail] of refused) {
  test(`RFC 7662 §2.1: invalid_client: ${name}`, () => {
    assertRefusal(authenticateResourceServer(by, { id, secret }), 'invalid_client', detail);
  });
}

test('RFC 6749 §5.2: all reasons share one public text, but what can be seen of the secret', () => {
  const texts = refused.map(([, by, id, secret]) => {
    const outcome = authenticateResourceServer(by, { id, secret });
    return outcome instanceof Refusal ? outcome.description : assert.fail();
  });
  const blank = refused.findIndex(([name]) => name === 'a space after it');
  assert.match(String(texts[blank]), /contains a space or a line break/);
  assert.equal(new Set(texts.toSpliced(blank, 1)).size, 1);
});

test('RFC 7662 §2.2: what a resource server is told of a token', () => {
  const grant = { ...activeGrant, resource: 'https://letters.test' };
  assert.deepEqual(visibleToken({ ...server, resource: grant.resource }, grant, resourceOwner, NOW + 5), {
    scope: 'read write',
    clientId: grant.clientId,
    resourceOwner,
    externalId: null,
    resource: 'https://letters.test',
    expiresAt: NOW + 5,
    grant: { grantId: grantIdText(grant.id), clientId: grant.clientId, resourceOwnerId: grant.resourceOwnerId },
  });
});

const views: [granted: string, mayKnow: string[] | null, told: string | null][] = [
  ['read write', null, 'read write'],
  ['', null, ''],
  ['read write', ['read', 'write'], 'read write'],
  ['read write', ['write', 'read', 'admin'], 'read write'],
  ['read write', ['write'], 'write'],
  ['read write', ['admin'], null],
  ['read write', ['READ', 'rea', 'read write'], null],
  ['', ['read'], null],
];
for (const [scope, scopes, told] of views) {
  test(`RFC 7662 §4, RFC 8707 §2.2: of ${JSON.stringify(scope)} one that may know ${scopes ?? 'all'} is told ${told ?? 'nothing at all'}`, () => {
    const seen = visibleToken({ ...server, scopes }, { ...activeGrant, scope }, resourceOwner, NOW);
    assert.equal(seen?.scope ?? null, told);
  });
}

test('RFC 7662 §4, RFC 8707 §2.2: whatever was granted, nothing is told that was not granted or may not be known', () => {
  const someNames = fc.uniqueArray(fc.constantFrom<string>('a', 'b', 'c', 'd'), { maxLength: 4 });
  fc.assert(
    fc.property(someNames, fc.option(someNames), (granted, scopes) => {
      const seen = visibleToken(
        { ...server, scopes },
        { ...activeGrant, scope: granted.join(' ') },
        resourceOwner,
        NOW,
      );
      for (const name of scopeNames(seen?.scope ?? '')) {
        assert.ok(granted.includes(name));
        assert.ok(scopes === null || scopes.includes(name));
      }
    }),
  );
});

test('interface: a default resource binds at resource servers, and not at this service’s own API', () => {
  const forLetters = { ...activeGrant, resource: 'https://letters.test' };
  const byDefault = { ...forLetters, resourceIsDefault: true };
  for (const [grant, ownResource, expected] of [
    [activeGrant, 'https://api.test', true],
    [forLetters, 'https://api.test', false],
    [forLetters, 'https://LETTERS.test:443/', true],
    [byDefault, 'https://api.test', true],
  ] as const)
    assert.equal(isGoodAtOwnApi(ownResource, grant), expected, `${grant.resource} at ${ownResource}`);
  const apis = ['https://letters.test', 'https://other.test', null].map((resource) => ({ ...server, resource }));
  for (const grant of [forLetters, byDefault])
    assert.deepEqual(
      apis.map((api) => isGoodAt(api, grant)),
      [true, false, false],
    );
});

const LETTERS = 'https://letters.test';
const places: [what: string, where: Partial<ResourceServer>, granted: string | null, isGood: boolean][] = [
  ['a token for its resource', { resource: LETTERS }, LETTERS, true],
  ['a token for another resource', { resource: LETTERS }, 'https://other.test', false],
  ['an unbound token', { resource: LETTERS }, null, false],
  ['an unbound token, where the operator lets it take them', { resource: LETTERS, acceptsUnbound: true }, null, true],
  [
    'a token for another, where it takes unbound ones',
    { resource: LETTERS, acceptsUnbound: true },
    'https://o.test',
    false,
  ],
  ['an unbound token, where it has no resource', {}, null, true],
  ['a bound token, where it has no resource', {}, LETTERS, false],
];
for (const [what, where, granted, isGood] of places)
  test(`RFC 9700 §2.3, RFC 8707 §2: ${what} is ${isGood ? '' : 'not '}good at an API, and so it hears of its end`, () => {
    const api = { ...server, ...where };
    const access = { resource: granted, scope: 'read' };
    assert.equal(isGoodAt(api, access), isGood);
    assert.equal(mayHearOf(api, access), isGood);
  });

test('RFC 8707 §2: a resource is answered as the API that asks is registered', () => {
  const api = { ...server, resource: 'https://Letters.test/' };
  const seen = visibleToken(api, { ...activeGrant, resource: LETTERS }, resourceOwner, NOW);
  assert.equal(seen?.resource, 'https://Letters.test/');
});
