/** What every store must do, whatever it is made of: one suite, races included. */
import { describe, type TestContext, test } from 'node:test';
import { addAdaAndOne } from '../support/storage.ts';
import { accounts, sessions } from './conformance/accounts.ts';
import type { AnyStore, WithStore } from './conformance/any-store.ts';
import { clients, trail } from './conformance/clients.ts';
import { epochs, grants, marks } from './conformance/grants.ts';

/** Runs the suite; `open` makes an empty store that goes with the test. */
export function storeConformance(name: string, open: (t: TestContext) => Promise<AnyStore>): void {
  const withStore: WithStore = (promise, run) =>
    test(promise, async (t) => {
      const store = await open(t);
      await addAdaAndOne({ store });
      await run(store);
    });
  describe(`${name}: grants`, () => grants(withStore));
  describe(`${name}: ending many grants`, () => epochs(withStore));
  describe(`${name}: marks of use`, () => marks(withStore));
  describe(`${name}: clients`, () => clients(withStore));
  describe(`${name}: accounts`, () => accounts(withStore));
  describe(`${name}: sessions`, () => sessions(withStore));
  describe(`${name}: audit trail`, () => trail(withStore));
}
