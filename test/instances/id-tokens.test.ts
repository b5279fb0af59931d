/** ID tokens of three instances while their keys turn and are replaced: each verifies as an app verifies it. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createLocalJWKSet, errors, type JSONWebKeySet, jwtVerify } from 'jose';
import { SIGNS_FOR_MS } from '../../src/oauth/openid/signing-keys.ts';
import { asJson, forgetDecisions } from '../support/flow.ts';
import { PATIENT_FOR_ROWS } from '../support/postgres.ts';
import { addClient } from '../support/service.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { exchangeCode, sentTo, standardUrl } from '../support/standard.ts';
import { lots, pick, rounds, SEED, TIMEOUT } from './effort.ts';
import { type LocalInstance, startThree } from './instances.ts';

const server = await sharedPostgres();
after(() => server.remove());

const AT_ONCE = 4;

test('each ID token verifies with a key set that was read before, or read again for its kid, while keys turn and are replaced', {
  timeout: TIMEOUT,
}, async (t) => {
  const { instances, people, shared } = await startThree(t, server, AT_ONCE, PATIENT_FOR_ROWS);
  const [first] = instances as [LocalInstance];
  const app = await addClient(first, { signIn: true, consent: 'skip' });
  const draw = lots(SEED);
  const any = () => pick(draw, instances);
  const keySet = async () =>
    createLocalJWKSet((await asJson(await fetch(`${any().appUrl}/oauth2/jwks`))).body as unknown as JSONWebKeySet);
  const kids = new Set<string>();
  let readAgain = 0;

  const signIn = async ({ browser }: (typeof people)[number]): Promise<void> => {
    const at = any();
    await forgetDecisions(at);
    const code = String(sentTo(await browser.get(standardUrl(at, app, { scope: 'openid' }))).searchParams.get('code'));
    const before = await keySet();
    const { status, body } = await exchangeCode(any(), app, code);
    assert.equal(status, 200, JSON.stringify(body));
    const verify = (keys: typeof before) =>
      jwtVerify(String(body['id_token']), keys, { audience: app.clientId, currentDate: new Date(first.clock.now()) });
    const verified = await verify(before).catch(async (error: unknown) => {
      assert.ok(error instanceof errors.JWKSNoMatchingKey, String(error));
      readAgain += 1;
      return verify(await keySet());
    });
    kids.add(String(verified.protectedHeader.kid));
  };
  /** Signs people in so often, and acts on the keys so many times meanwhile. */
  const during = async (count: number, times: number, act: () => Promise<unknown>): Promise<void> => {
    let left = count;
    const acts = Array.from({ length: times }, (_, index) => Math.floor((count * (index + 1)) / (times + 1)));
    await Promise.all(
      people.map(async (person) => {
        while (left > 0) {
          left -= 1;
          // The flood limit would refuse this many in one moment. A code stays good for a minute.
          if (left % 200 === 0) for (const clock of new Set(instances.map((at) => at.clock))) clock.advance(20);
          if (acts.includes(left)) await act();
          await signIn(person);
        }
      }),
    );
  };
  const onAll = (act: (at: LocalInstance) => Promise<unknown>) => Promise.all(instances.map(act));

  const count = rounds(60, 50);
  await during(count, 3, async () => {
    await server.query(
      shared.VALETKEY_DATABASE_URL,
      `UPDATE signing_key SET signs_since = signs_since - ${SIGNS_FOR_MS}`,
    );
    await onAll(({ installation }) => installation.signingKeys.keep());
  });
  assert.deepEqual([kids.size, readAgain], [4, 0], 'no turn surprised anybody');
  await during(count, 2, () => {
    const { signingKeys, operator } = any().installation;
    return signingKeys.replace(operator);
  });
  assert.equal(kids.size, 6);
  const left = await first.installation.signingKeys.list();
  assert.deepEqual(left.map(({ state }) => state).toSorted(), ['next', 'signing']);
  t.diagnostic(`${2 * count} ID tokens, ${readAgain} after the key set was read again`);
});

test('Promise 2: userinfo refuses a removed app, a paused one and a disabled user on every instance at once', async (t) => {
  const { instances, people } = await startThree(t, server, 3, PATIENT_FOR_ROWS);
  const [first] = instances as [LocalInstance];
  const { accounts, clients, grants, operator } = first.installation;
  const app = await addClient(first, { signIn: true, consent: 'skip' });
  const tokens = await Promise.all(
    people.map(async ({ browser }) => {
      const location = sentTo(await browser.get(standardUrl(first, app, { scope: 'openid' })));
      const { body } = await exchangeCode(first, app, String(location.searchParams.get('code')));
      return String(body['access_token']);
    }),
  );
  const answers = () =>
    Promise.all(
      tokens.map((token) =>
        Promise.all(
          instances.map(async ({ appUrl }) => {
            const headers = { Authorization: `Bearer ${token}` };
            return (await fetch(`${appUrl}/oauth2/userinfo`, { headers })).status;
          }),
        ),
      ),
    );
  const [good, refused] = [
    [200, 200, 200],
    [401, 401, 401],
  ];
  assert.deepEqual(await answers(), [good, good, good]);
  await grants.disconnect(String(people[0].accountId), app.clientId, operator);
  assert.deepEqual(await answers(), [refused, good, good]);
  await accounts.disable(String(people[1]?.accountId), operator);
  assert.deepEqual(await answers(), [refused, refused, good]);
  await clients.pause(app.clientId, operator);
  assert.deepEqual(await answers(), [refused, refused, refused]);
});
