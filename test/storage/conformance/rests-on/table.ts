/** The table of what verbs rest on, and the verbs that have no row there. */
import type { AnyStore } from '../any-store.ts';
import { ofAccounts } from './accounts.ts';
import { ofGrants } from './grants.ts';
import { ofOperators } from './operators.ts';
import { ofProviders } from './providers.ts';
import { ofRegistrations } from './registrations.ts';
import type { RestsOn } from './row.ts';

/** The rows, by whose verbs they are. */
export const TABLE: Readonly<Record<string, readonly RestsOn[]>> = {
  'grants and devices': ofGrants,
  'accounts and sessions': ofAccounts,
  'people of providers': ofProviders,
  registrations: ofRegistrations,
  operators: ofOperators,
};

const ONLY_GROWS = 'a mark only grows, whatever was noted before';
const RECORDS = 'it only records what happened';
const runsIn = (path: string) => `${path} runs it, and has what it needs`;

/** Verbs without a row, each with the reason. */
export const WITHOUT_ROW: { readonly [Verb in keyof AnyStore]?: string } = {
  noteUse: ONLY_GROWS,
  noteSecretUse: ONLY_GROWS,
  addActivity: ONLY_GROWS,
  touchSession: ONLY_GROWS,
  touchOperatorSession: ONLY_GROWS,
  recordSignInEvent: RECORDS,
  recordDenial: RECORDS,
  recordOfTrail: RECORDS,
  noteBackup: RECORDS,
  noteInstance: RECORDS,
  forgetInstance: 'what is gone is gone',
  registerClient: 'its id is new',
  registerHandedOver: 'its id is new',
  addOperator: 'its id is new',
  registerResourceServer: 'its id is new',
  revokeAllGrants: 'it ends what is there, whatever that is',
  deleteEndedGrants: 'it decides by itself which grants are dead',
  paceDeviceRequest: 'the last poll counts',
  addDeviceRequest: runsIn('test/storage/conformance/device-requests.ts'),
  recordOperatorRefused: runsIn('test/storage/conformance/operators.ts'),
  useClientAssertion: runsIn('test/storage/conformance/clients.ts'),
  beginHistory: runsIn('test/storage/conformance/backups.ts'),
  prepareRootKey: runsIn('test/storage/root-keys.test.ts'),
  useRootKey: runsIn('test/storage/root-keys.test.ts'),
  retireRootKey: runsIn('test/storage/root-keys.test.ts'),
  turnSigningKeys: runsIn('test/storage/conformance/signing-keys.ts'),
  replaceSigningKeys: runsIn('test/storage/conformance/signing-keys.ts'),
  resealSigningKey: runsIn('test/storage/conformance/signing-keys.ts'),
  deleteTrailRows: runsIn('test/storage/audit-chain.test.ts'),
};
