/** Passkeys, keys and one-time links of operators, and checks that each still works. */
import assert from 'node:assert/strict';
import { Browser } from './browser.ts';
import { addOperator, addSignInAddress, enrolledOperator, type TestConsole, usePasskey } from './console.ts';
import { addKey, call } from './operator-api.ts';
import { type KeptPasskey, SoftPasskey } from './passkeys.ts';
import { addClient } from './service.ts';

/** Everything that is held. The links are paths with their tokens. */
export type HeldByOperators = {
  readonly passkey: KeptPasskey;
  readonly key: string;
  readonly enrollPath: string;
  readonly signInPath: string;
  readonly pickUpPath: string;
  readonly invitationPath: string;
};

const pathOf = (address: string) => address.slice(new URL(address).origin.length);

/** Shortens the trail, and has operators act: by passkey, by key, and with links for others. */
export async function actAsOperators(service: TestConsole): Promise<HeldByOperators> {
  const { handOvers, accounts, backups, auditTrail, newPasswordUrl, operator } = service.installation;
  const { passkey, operator: ann } = await enrolledOperator(service);
  const browser = new Browser({ 'Sec-Fetch-Site': 'same-origin' });
  assert.equal((await usePasskey(browser, passkey, `${service.operatorUrl}/sign-in`)).status, 303);
  await auditTrail.recordCheckpoint(operator);
  service.clock.advance(60);
  await auditTrail.shorten(service.clock.now(), operator);
  await backups.note('/var/backups', operator);
  const { key } = await addKey(service);
  const json = { name: 'By key', redirect_uris: ['https://by-key.example/cb'] };
  const made = await call(service, key, '/v1/clients', { json, headers: { 'Idempotency-Key': 'kept' } });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const { enrollUrl } = await addOperator(service, 'support', 'Bob');
  const { clientId } = await addClient(service, { name: 'To pick up' });
  const { address } = await handOvers.make({ kind: 'client', id: clientId }, operator);
  const { token } = await accounts.addInvited({ email: 'new@example.com', name: 'New', username: null }, operator);
  return {
    passkey: passkey.kept(),
    key,
    enrollPath: pathOf(enrollUrl),
    signInPath: pathOf(await addSignInAddress(service, ann)),
    pickUpPath: pathOf(address),
    invitationPath: `${pathOf(newPasswordUrl)}?token=${token}`,
  };
}

/** Asserts that all of it works. Links are only opened, which uses none. */
export async function assertOperatorsGoOn(service: TestConsole, held: HeldByOperators): Promise<void> {
  const { appUrl, operatorUrl } = service;
  const passkey = new SoftPasskey(operatorUrl, held.passkey);
  const browser = new Browser({ 'Sec-Fetch-Site': 'same-origin' });
  const signedIn = await usePasskey(browser, passkey, `${operatorUrl}/sign-in`);
  assert.equal(signedIn.status, 303, 'the passkey signs in');
  assert.equal((await call(service, held.key, '/v1/clients')).status, 200, 'the key works');
  const links = [
    operatorUrl + held.enrollPath,
    operatorUrl + held.signInPath,
    appUrl + held.pickUpPath,
    appUrl + held.invitationPath,
  ];
  for (const link of links) assert.equal((await new Browser().get(link)).status, 200, link);
}
