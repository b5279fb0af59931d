import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { withChecksum } from '../../../src/oauth/keys/credential.ts';
import type { Browser } from '../../support/browser.ts';
import {
  exchange,
  type JsonAnswer,
  me,
  obtainCode,
  pairOf,
  refresh,
  signedInBrowser,
  type TestClient,
} from '../../support/flow.ts';
import { addClient, addUser, REDIRECT_URI, startTestService } from '../../support/service.ts';
import {
  addResourceServer,
  assertionFields,
  exchangeCode,
  type Fields,
  introspect,
  makeKey,
  PKCE,
  post,
  postAs,
  refreshWith,
  standardCode,
  VERIFIER,
} from '../../support/standard.ts';

const service = await startTestService({ after });
const { clients, accounts, grants, operator } = service.installation;
const account = await addUser(service);
const other = await addClient(service);
const app = await addClient(service, {}, 'public');

const CODE_TEXT =
  'the authorization code is invalid, expired or already used, or was issued for another client, redirect_uri or code_verifier';
const TOKEN_TEXT =
  'the refresh token is invalid, expired, revoked or no longer current, or was issued to another client';
const WRONG_VERIFIER = 'x'.repeat(43);

let ada: { browser: Browser; until: number } | null = null;
/** A browser in which the person is signed in, also after the clock moved on by days. */
async function signedIn(): Promise<Browser> {
  const now = service.clock.now();
  if (ada === null || now > ada.until) ada = { browser: await signedInBrowser(service), until: now + 3_600_000 };
  return ada.browser;
}

/** How a client asks on a face, with PKCE on both. */
type Face = {
  name: string;
  code(client: TestClient, browser?: Browser): Promise<string>;
  exchange(client: TestClient, code: string, fields?: Fields): Promise<JsonAnswer>;
  refresh(client: TestClient, refreshToken: string): Promise<JsonAnswer>;
};
const faces: Face[] = [
  {
    name: 'published',
    code: async (client, browser) => obtainCode(service, browser ?? (await signedIn()), client, PKCE),
    exchange: (client, code, fields) => exchange(service, client, code, { code_verifier: VERIFIER, ...fields }),
    refresh: (client, refreshToken) => refresh(service, client, refreshToken),
  },
  {
    name: 'standard',
    code: async (client, browser) => standardCode(service, browser ?? (await signedIn()), client),
    exchange: (client, code, fields) => exchangeCode(service, client, code, fields),
    refresh: (client, refreshToken) => refreshWith(service, client, refreshToken),
  },
];
const [, standard] = faces as [Face, Face];

async function pairOn(face: Face, client: TestClient) {
  return pairOf(await face.exchange(client, await face.code(client)));
}

const seconds = () => `${new Date(service.clock.now()).toISOString().slice(0, 19)}Z`;

/** Who ends what a client may do. */
const ends: Record<string, (client: TestClient) => Promise<unknown>> = {
  'the person': ({ clientId }) => grants.disconnect(account.id, clientId, operator),
  'the operator': ({ clientId }) => clients.revokeGrants(clientId, operator),
  'an end of all that the person allowed': () => accounts.revokeGrants(account.id, operator),
};

type Made = { answer: JsonAnswer; text: RegExp | string };
type Case = [name: string, kind: string, make: (face: Face, client: TestClient) => Promise<Made>];

const reasons: Case[] = [
  [
    'a code that was used, with the second',
    'used',
    async (face, client) => {
      const code = await face.code(client);
      service.clock.advance(2);
      const at = seconds();
      pairOf(await face.exchange(client, code));
      service.clock.advance(3);
      return { answer: await face.exchange(client, code), text: new RegExp(`code was used already, at ${at}:`) };
    },
  ],
  [
    'a code that was used and ended what came of it, when it comes again',
    'used',
    async (face, client) => {
      const code = await face.code(client);
      pairOf(await face.exchange(client, code));
      await face.exchange(client, code);
      return { answer: await face.exchange(client, code), text: /code was used already, at / };
    },
  ],
  [
    'a code that was used before a refresh, with the time by which it was',
    'used',
    async (face, client) => {
      const code = await face.code(client);
      service.clock.advance(60);
      const end = seconds();
      service.clock.advance(-60);
      const { refreshToken } = pairOf(await face.exchange(client, code));
      pairOf(await face.refresh(client, refreshToken));
      return { answer: await face.exchange(client, code), text: new RegExp(`used already, before ${end}:`) };
    },
  ],
  [
    'a code that expired, with how long ago and how long it was good',
    'expired',
    async (face, client) => {
      const code = await face.code(client);
      service.clock.advance(75);
      const text = 'the authorization code expired 15 seconds ago: it is good for 60 seconds, so exchange it at once';
      return { answer: await face.exchange(client, code), text };
    },
  ],
  [
    'another redirect URI',
    'redirect-uri',
    async (face, client) => {
      const answer = await face.exchange(client, await face.code(client), { redirect_uri: `${REDIRECT_URI}/Echo` });
      return { answer, text: /^redirect_uri differs from that of the authorization request/ };
    },
  ],
  [
    'a redirect URI that was removed',
    'redirect-uri',
    async (face, client) => {
      const code = await face.code(client);
      await clients.update(client.clientId, { redirectUris: ['https://elsewhere.example/'] }, operator);
      return {
        answer: await face.exchange(client, code),
        text: 'redirect_uri is not registered for this client any more',
      };
    },
  ],
  [
    'another verifier, and no more of it',
    'code-verifier',
    async (face, client) => {
      const answer = await face.exchange(client, await face.code(client), { code_verifier: WRONG_VERIFIER });
      return { answer, text: 'code_verifier does not match' };
    },
  ],
  [
    'no verifier',
    'code-verifier',
    async (face, client) => {
      const answer = await face.exchange(client, await face.code(client), { code_verifier: undefined });
      return { answer, text: /^code_verifier is missing/ };
    },
  ],
  [
    'a refresh token that was used, with the second',
    'used',
    async (face, client) => {
      const { refreshToken } = await pairOn(face, client);
      service.clock.advance(100);
      const at = seconds();
      pairOf(await face.refresh(client, refreshToken));
      service.clock.advance(700);
      const answer = await face.refresh(client, refreshToken);
      return { answer, text: new RegExp(`refresh token was used already, at ${at}: the access has ended`) };
    },
  ],
  [
    'a refresh token that was used and ended the access, when it comes again',
    'used',
    async (face, client) => {
      const { refreshToken } = await pairOn(face, client);
      pairOf(await face.refresh(client, refreshToken));
      service.clock.advance(700);
      await face.refresh(client, refreshToken);
      return { answer: await face.refresh(client, refreshToken), text: /used already, at .*: the access has ended/ };
    },
  ],
  [
    'a refresh token of long ago, while a rotation is new: nothing has ended',
    'used',
    async (face, client) => {
      const { refreshToken } = await pairOn(face, client);
      const second = pairOf(await face.refresh(client, refreshToken));
      const third = pairOf(await face.refresh(client, second.refreshToken));
      const answer = await face.refresh(client, refreshToken);
      assert.equal((await me(service, third.accessToken)).status, 200);
      return { answer, text: /used already, before .*: save the new refresh token of each answer$/ };
    },
  ],
  [
    'a refresh token that nobody used in time',
    'expired',
    async (face, client) => {
      const { refreshToken } = await pairOn(face, client);
      service.clock.advance(30 * 86_400 + 7200);
      const text = 'the refresh token expired 2 hours ago, because it was not used: ask the user again';
      return { answer: await face.refresh(client, refreshToken), text };
    },
  ],
  [
    'a code of an account that is disabled',
    'paused',
    async (face, client) => {
      const email = `grace@${client.clientId.toLowerCase()}.example`.replaceAll('_', '-');
      await addUser(service, email);
      const code = await face.code(client, await signedInBrowser(service, email));
      await accounts.disable(email, operator);
      const answer = await face.exchange(client, code);
      await accounts.enable(email, operator);
      pairOf(await face.exchange(client, code));
      return { answer, text: /^this access is paused for now and has not ended/ };
    },
  ],
];
for (const [who, end] of Object.entries(ends))
  reasons.push(
    [
      `a code whose access was ended by ${who}, without a word of it`,
      'ended',
      async (face, client) => {
        const code = await face.code(client);
        await end(client);
        return {
          answer: await face.exchange(client, code),
          text: 'the access that was allowed has ended: ask the user again',
        };
      },
    ],
    [
      `a refresh token whose access was ended by ${who}, without a word of it`,
      'ended',
      async (face, client) => {
        const { refreshToken } = await pairOn(face, client);
        await end(client);
        const answer = await face.refresh(client, refreshToken);
        return { answer, text: 'the access that was allowed has ended: ask the user again' };
      },
    ],
  );

const page = await (await fetch(`${service.appUrl}/developers`)).text();

for (const face of faces)
  describe(`RFC 6749 §5.2: on the ${face.name} face a client that proved its secret is told the reason`, () => {
    for (const [name, kind, make] of reasons)
      test(`RFC 6749 §5.2: ${face.name}: ${name}`, async () => {
        const client = await addClient(service);
        const { answer, text } = await make(face, client);
        const { error, error_description: told, error_uri: where, ...rest } = answer.body;
        assert.equal(`${answer.status} ${error}`, '400 invalid_grant');
        if (typeof text === 'string') assert.equal(told, text);
        else assert.match(String(told), text);
        assert.match(String(told), /^[\x20\x21\x23-\x5b\x5d-\x7e]{1,200}$/);
        assert.deepEqual(rest, {});
        assertPlace(face, where, kind);
      });
  });

/** The published face has two fields to the letter; the standard one names a place that the developers' page has. */
function assertPlace({ name }: Face, where: unknown, kind: string): void {
  assert.equal(where, name === 'published' ? undefined : `${service.appUrl}/developers#reason-${kind}`);
  assert.ok(page.includes(` id="reason-${kind}"`), `the page has no ${kind}`);
}

for (const face of faces)
  test(`RFC 6749 §5.2: ${face.name}: a paused client that proved its secret is told so about its own credentials alone`, async () => {
    const client = await addClient(service);
    const code = await face.code(client);
    const { refreshToken } = await pairOn(face, client);
    const foreign = await face.code(other);
    await clients.pause(client.clientId, operator);
    for (const answer of [await face.exchange(client, code), await face.refresh(client, refreshToken)]) {
      assert.equal(`${answer.status} ${answer.body['error']}`, '401 invalid_client');
      assert.match(String(answer.body['error_description']), /^this client is paused/);
      assertPlace(face, answer.body['error_uri'], 'paused');
    }
    const wrong = { ...client, clientSecret: 'a-wrong-one' };
    for (const answer of [
      await face.exchange(wrong, code),
      await face.refresh(wrong, refreshToken),
      await face.exchange(client, foreign),
      await face.exchange(client, forged(code)),
      await face.refresh(client, forged(refreshToken)),
      await face.exchange(client, 'x'),
    ])
      assert.equal(
        `${answer.body['error_description']} ${answer.body['error_uri']}`,
        'client authentication failed: check client_id and client_secret, or client_assertion undefined',
      );
    await clients.resume(client.clientId, operator);
    pairOf(await face.exchange(client, code));
  });

test('RFC 7523 §2.2: a client that proved itself by an assertion is told the reason', async () => {
  const key = makeKey();
  const client = await addClient(service, { keys: [key.jwk] });
  const code = await standard.code(client);
  const exchanged = {
    grant_type: 'authorization_code',
    code,
    redirect_uri: REDIRECT_URI,
    code_verifier: WRONG_VERIFIER,
  };
  const answer = await post(service, 'token', { ...exchanged, ...(await assertionFields(service, client, key)) });
  assert.equal(answer.body['error_description'], 'code_verifier does not match');
});

/** The same credential with another MAC, as nobody with the checksum alone can tell. */
function forged(credential: string): string {
  const body = credential.slice(0, -6);
  return withChecksum(`${body.slice(0, -8)}${body.endsWith('AAAAAAAA') ? 'BBBBBBBB' : 'AAAAAAAA'}`);
}

/** What stays with the one text, whatever is wrong with it. */
const silent: Record<string, (face: Face, client: TestClient) => Promise<JsonAnswer[]>> = {
  'what another client was given, used or not, expired or not': async (face, client) => {
    const [code, used] = [await face.code(other), await face.code(other)];
    const { refreshToken } = pairOf(await face.exchange(other, used));
    const now = [
      await face.exchange(client, code),
      await face.exchange(client, used),
      await face.exchange(client, code, { code_verifier: WRONG_VERIFIER }),
      await face.exchange(client, code, { redirect_uri: 'https://client.example/other' }),
      await face.refresh(client, refreshToken),
    ];
    service.clock.advance(31 * 86_400);
    return [...now, await face.exchange(client, code), await face.refresh(client, refreshToken)];
  },
  'what is forged, of a grant of its own that ended or not': async (face, client) => {
    const code = await face.code(client);
    const { refreshToken } = await pairOn(face, client);
    const ask = async () => [
      await face.exchange(client, forged(code)),
      await face.exchange(client, forged(code), { code_verifier: WRONG_VERIFIER }),
      await face.refresh(client, forged(refreshToken)),
    ];
    const before = await ask();
    await clients.revokeGrants(client.clientId, operator);
    return [...before, ...(await ask())];
  },
  'what is no credential of this service': async (face, client) => [
    await face.exchange(client, 'x'),
    await face.refresh(client, 'x'),
  ],
};
for (const face of faces)
  for (const [what, make] of Object.entries(silent))
    test(`RFC 6749 §5.2: ${face.name}: ${what} keeps the one text, also for a client that proved its secret`, async () => {
      for (const { body } of await make(face, await addClient(service)))
        assert.ok(
          [CODE_TEXT, TOKEN_TEXT].includes(String(body['error_description'])) && !('error_uri' in body),
          JSON.stringify(body),
        );
    });

test('RFC 6749 §5.2: a public client keeps the one text for every reason', async () => {
  // It has no overlap, so an old token ends the grant at once; and it keeps its redirect URI for the next case.
  const alone = reasons.filter(([name]) => !/removed|of long ago/.test(name));
  for (const [name, , make] of alone) {
    const { answer } = await make(standard, app);
    const { error, error_description: told, ...rest } = answer.body;
    assert.deepEqual(
      [error, rest, [CODE_TEXT, TOKEN_TEXT].includes(String(told))],
      ['invalid_grant', {}, true],
      `${name}: ${told}`,
    );
  }
});

test('RFC 6749 §5.2: a wrong secret tells nothing of a code that was used', async () => {
  const client = await addClient(service);
  const code = await standard.code(client);
  pairOf(await exchangeCode(service, client, code));
  const answer = await exchangeCode(service, { ...client, clientSecret: 'wrong' }, code);
  assert.equal(answer.body['error'], 'invalid_client');
  assert.match(String(answer.body['error_description']), /^client authentication failed/);
});

test('RFC 7662 §2.2, RFC 6750 §3.1: introspection and the check tell no reason', async () => {
  const client = await addClient(service);
  const api = await addResourceServer(service);
  const pair = await pairOn(standard, client);
  assert.deepEqual((await introspect(service, api, pair.accessToken)).body['active'], true);
  await clients.revokeGrants(client.clientId, operator);
  assert.deepEqual((await introspect(service, api, pair.accessToken)).body, { active: false });
  assert.deepEqual((await me(service, pair.accessToken)).body, {
    status: 'error',
    error: { code: 'invalid_token', message: 'the access token is invalid, expired or revoked' },
  });
  assert.deepEqual((await postAs(service, client, 'revoke', { token: pair.accessToken })).body, {});
});
