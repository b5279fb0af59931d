/** The rules of every store, whatever it is made of: one suite, races included. */
import { describe, type TestContext, test } from 'node:test';
import { addAdaAndOne } from '../support/storage.ts';
import { accounts, sessions } from './conformance/accounts.ts';
import { activity } from './conformance/activity.ts';
import type { AnyStore, WithStore } from './conformance/any-store.ts';
import { backups } from './conformance/backups.ts';
import { assertions, clients, trail } from './conformance/clients.ts';
import { connected, limit } from './conformance/connected.ts';
import { type CopyWaiting, deviceCrowds } from './conformance/device-crowds.ts';
import { deviceRequests } from './conformance/device-requests.ts';
import { foreignPasswords } from './conformance/foreign-passwords.ts';
import { epochs, grants, marks } from './conformance/grants.ts';
import { handOvers } from './conformance/hand-overs.ts';
import { externalSignIns, identities, identityProviders } from './conformance/identities.ts';
import { incidents } from './conformance/incidents.ts';
import { invitations } from './conformance/invitations.ts';
import { lastUses } from './conformance/last-uses.ts';
import { lists } from './conformance/lists.ts';
import { operators } from './conformance/operators.ts';
import { operatorsMidway } from './conformance/operators-midway.ts';
import { providerEndings } from './conformance/provider-endings.ts';
import { rememberedConsent } from './conformance/remembered-consent.ts';
import { requestConditions } from './conformance/request-conditions.ts';
import { resourceServers, scopes } from './conformance/resource-servers.ts';
import { restsOn } from './conformance/rests-on/rests-on.ts';
import { foundSecrets } from './conformance/secrets.ts';
import { signingKeys } from './conformance/signing-keys.ts';
import { windows } from './conformance/windows.ts';

type Open = (t: TestContext) => Promise<AnyStore>;

/** Runs the suite; `open` makes an empty store that goes with the test. */
export function storeConformance(name: string, open: Open): void {
  const withStore = inStores(open);
  describe(`${name}: what writes rest on`, () => restsOn(withStore));
  describe(`${name}: remembered consent`, () => rememberedConsent(withStore));
  describe(`${name}: grants`, () => grants(withStore));
  describe(`${name}: ending many grants`, () => epochs(withStore));
  describe(`${name}: marks of use`, () => marks(withStore));
  describe(`${name}: connected apps`, () => connected(withStore));
  describe(`${name}: the limit of grants`, () => limit(withStore));
  describe(`${name}: clients`, () => clients(withStore));
  describe(`${name}: client assertions`, () => assertions(withStore));
  describe(`${name}: resource servers`, () => resourceServers(withStore));
  describe(`${name}: found secrets`, () => foundSecrets(withStore));
  describe(`${name}: hand-overs`, () => handOvers(withStore));
  describe(`${name}: last uses`, () => lastUses(withStore));
  describe(`${name}: tallies and failures of apps`, () => activity(withStore));
  describe(`${name}: incidents`, () => incidents(withStore));
  describe(`${name}: lists by keys`, () => lists(withStore));
  describe(`${name}: signing keys`, () => signingKeys(withStore));
  describe(`${name}: scopes`, () => scopes(withStore));
  describe(`${name}: device requests`, () => deviceRequests(withStore));
  describe(`${name}: accounts`, () => accounts(withStore));
  describe(`${name}: invitations`, () => invitations(withStore));
  describe(`${name}: sessions`, () => sessions(withStore));
  describe(`${name}: identity providers`, () => identityProviders(withStore));
  describe(`${name}: identities`, () => identities(withStore));
  describe(`${name}: foreign passwords`, () => foreignPasswords(withStore));
  describe(`${name}: sign-ins elsewhere`, () => externalSignIns(withStore));
  describe(`${name}: what was given through a provider`, () => providerEndings(withStore));
  describe(`${name}: operators`, () => operators(withStore));
  describe(`${name}: operators who lose access midway`, () => operatorsMidway(withStore));
  describe(`${name}: backups`, () => backups(withStore));
  describe(`${name}: conditions of requests`, () => requestConditions(withStore));
  describe(`${name}: audit trail`, () => trail(withStore));
}

/** Runs what takes thousands of rows, which is the same however a store is opened. */
export function crowdConformance(name: string, open: Open, copyWaiting?: CopyWaiting): void {
  const withStore = inStores(open);
  describe(`${name}: crowds of devices`, () => deviceCrowds(withStore, copyWaiting));
  describe(`${name}: windows`, () => windows(withStore));
}

function inStores(open: Open): WithStore {
  return (promise, run) =>
    test(promise, async (t) => {
      const store = await open(t);
      await addAdaAndOne({ store });
      await run(store);
    });
}
