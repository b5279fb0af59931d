/** Whether an installation that was opened after a power cut keeps what was answered before. */
import type { Account } from '../../src/accounts/people/account.ts';
import type { Client } from '../../src/oauth/clients/client.ts';
import { grantIdText, isEnded } from '../../src/oauth/grants/grant.ts';
import type { Keyring } from '../../src/oauth/keys/keyring.ts';
import type { ListedGrant } from '../../src/oauth/protocol/grant-store.ts';
import type { RevocationNotice } from '../../src/oauth/resource-servers/revocation-notice.ts';
import { currentGeneration, deriveTokens } from '../../src/oauth/tokens/token-pair.ts';
import type { Entry } from '../instances/history.ts';
import { type Expectation, expectationsOf, includes } from './expectations.ts';

/** What an installation holds. */
export type Holdings = {
  readonly keyring: Keyring;
  readonly grants: readonly ListedGrant[];
  readonly clients: readonly Client[];
  readonly accounts: readonly Account[];
};

/** A promise that is broken about a grant with this row, or without any; only grants that were answered are expected. */
type Rule = (expected: Expectation, row: ListedGrant | undefined, keyring: Keyring) => boolean;

const RULES: Readonly<Record<string, Rule>> = {
  'an Allow that was answered is there': ({ mayBeEnded }, row) => !row && !mayBeEnded,

  'a code that was exchanged stays exchanged, and no generation is lost': ({ answered }, row) =>
    row !== undefined && row.grant.generation < answered,

  'no generation is there that nobody asked for': ({ asked }, row) => row !== undefined && row.grant.generation > asked,

  'the pair that was answered is the pair of its generation': ({ pairs }, row, keyring) => {
    const answered = row && pairs.get(row.grant.generation);
    if (!answered) return false;
    const { accessToken, refreshToken } = deriveTokens(keyring, 'vk', row.grant, currentGeneration(row.grant));
    return accessToken !== answered.accessToken || refreshToken !== answered.refreshToken;
  },

  'an answered revocation is final': ({ isEnded: isExpected }, row) =>
    row !== undefined && isExpected && !isEnded(row.grant, row.standing),

  'nothing ends that nobody ended': ({ mayBeEnded }, row) =>
    row !== undefined && !mayBeEnded && isEnded(row.grant, row.standing),
};

/** The promises that are broken, each in a sentence; `entries` is what clients knew when the power failed. */
export function brokenPromises(entries: readonly Entry[], holdings: Holdings): string[] {
  const rows = new Map(holdings.grants.map((row) => [grantIdText(row.grant.id), row]));
  const ofGrants = [...expectationsOf(entries).values()]
    .filter(({ allowed }) => allowed !== null)
    .flatMap((expected) =>
      Object.entries(RULES)
        .filter(([, isBroken]) => isBroken(expected, rows.get(expected.id), holdings.keyring))
        .map(([promise]) => `${promise}: ${inWords(expected, rows.get(expected.id))}`),
    );
  return [...ofGrants, ...wrongStatuses(entries, holdings)];
}

/** A paused app is paused, and a disabled account disabled, until they are brought back. */
function wrongStatuses(entries: readonly Entry[], { clients, accounts }: Holdings): string[] {
  const held = [
    ...clients.map(({ id, status }) => ({ whose: { clientId: id }, suspended: status === 'paused' })),
    ...accounts.map(({ id, status }) => ({ whose: { resourceOwnerId: id }, suspended: status === 'disabled' })),
  ];
  return held
    .filter(({ whose, suspended }) => ![null, suspended].includes(isSuspended(entries, whose)))
    .map(
      ({ whose, suspended }) => `a status that was answered stays: ${JSON.stringify(whose)} suspended: ${suspended}`,
    );
}

/** Whether it must be; null when the last act may have had its effect, or not. */
function isSuspended(entries: readonly Entry[], whose: RevocationNotice): boolean | null {
  const acts = entries.filter((entry) => entry.kind === 'suspend' || entry.kind === 'resume');
  const last = acts.findLast((act) => includes(act.whose, whose));
  return !last ? false : last.outcome === 'done' ? last.kind === 'suspend' : null;
}

function inWords({ id, pairs, mayBeEnded, ...expected }: Expectation, row: ListedGrant | undefined): string {
  const { generation, revokedAt, revocationReason } = row?.grant ?? {};
  const held = row ? JSON.stringify({ generation, revokedAt, revocationReason }) : 'no row';
  return `grant ${id}, ${JSON.stringify({ ...expected, allowed: undefined, mayBeEnded })}, has ${held}`;
}
