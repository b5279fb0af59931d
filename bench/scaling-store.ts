/** What both stores are asked in `node bench/scaling.ts --measure`: the same made-up grants, and so many at a time. */

import { hash } from 'node:crypto';
import { type Generation, type Grant, grantIdText, newGrantId } from '../src/oauth/grants/grant.ts';
import { PERSON_FIELDS } from '../src/oauth/grants/person-fields.ts';
import { scopeNames } from '../src/oauth/grants/scope.ts';
import { createKeyring } from '../src/oauth/keys/keyring.ts';
import { makeSecret } from '../src/oauth/keys/secret.ts';
import { newGrant } from '../src/oauth/protocol/allow.ts';
import { auditEvent } from '../src/oauth/trail/audit.ts';
import { makeRootKey, parseRootKeys } from '../src/settings/root-keys.ts';
import type { Store } from '../src/storage/tables/whole-store.ts';

/** Requests under way at once. */
const IN_FLIGHT = 64;
const APPS_PER_USER = 5;
const CLIENTS = 100;
const [CODE_MS, ACCESS_MS, IDLE_MS] = [60_000, 1_800_000, 30 * 86_400_000];
const LIFETIMES = { refreshTokenMax: 365 * 86_400 };

/** The text of the one root key, for a service that is to understand what is filled in here. */
export const rootKey = makeRootKey();
/** A keyring with this key. */
export const keyring = createKeyring(parseRootKeys(rootKey, 'bench'));
/** At the front of every credential, as where nobody says another. */
export const PREFIX = 'vk';
/** How a database begins that is to be filled in. */
export const beginning = { settings: { tokenPrefix: PREFIX, shared: {} }, refuseNew: null };
/** What the challenge of the made-up rows was made from (RFC 7636, appendix B). */
export const CODE_VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';

/** What is made so that a service can work with it. */
type Usable = {
  /** Each so manieth grant is a code that nobody has redeemed; 0 for none. */
  readonly codeEvery?: number;
  /** Until when (ms) codes and access tokens work, if not for their usual time. */
  readonly usableUntil?: number | null;
};

/** What the made-up rows hold. The lengths are those of the real thing; grants come one each millisecond from `since`. */
export function madeUp(grants: number, since: number, { codeEvery = 0, usableUntil = null }: Usable = {}) {
  return {
    grants,
    accounts: Math.ceil(grants / APPS_PER_USER),
    clients: CLIENTS,
    since,
    codeEvery,
    usableUntil,
    keyId: keyring.currentKeyId,
    scope: 'mail.read profile.read',
    challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    /** Has the length of a sealed PHC string of argon2id. */
    sealedPhc: 'A'.repeat(182),
    /** One for all clients. */
    clientSecret: makeSecret(PREFIX, 'cs', since),
  } as const;
}

/** What rows are made up from. */
export type MadeUp = ReturnType<typeof madeUp>;

/** The id of the nth grant: a UUID of version 7, made of its time and its number. */
export function grantId(n: number, { since }: MadeUp): Buffer {
  const chance = hash('md5', String(n));
  const time = (since + n).toString(16).padStart(12, '0');
  return Buffer.from(`${time}7${chance.slice(0, 3)}8${chance.slice(3, 18)}`, 'hex');
}

/** The id of the nth account. */
export const accountId = (n: number): string => `usr_${String(n).padStart(16, '0')}`;
/** The id of the nth client. */
export const clientId = (n: number): string => `app_${String(n).padStart(16, '0')}`;
/** Where the nth client's users come back to. */
export const redirectUri = (n: number): string => `https://app-${n}.example.com/oauth/callback`;

/** Whether the nth grant is a code that nobody has redeemed. */
export const isCode = (n: number, { codeEvery }: MadeUp): boolean => codeEvery > 0 && n % codeEvery === 0;

/** The nth grant as it is filled in, with its id as its seed: a code, or a pair whose access token was used. */
export function filledGrant(n: number, made: MadeUp): Grant {
  const { accounts, clients, since, usableUntil } = made;
  const id = grantId(n, made);
  const grantedAt = since + n;
  const grant = { ...allowed(made, id, n % clients, (n * 7919) % accounts, grantedAt), seed: id };
  if (isCode(n, made)) return { ...grant, expiresAt: usableUntil ?? grant.expiresAt };
  return {
    ...grant,
    generation: 1,
    usedGeneration: 1,
    accessTokenExpiresAt: usableUntil ?? grantedAt + ACCESS_MS,
    expiresAt: grantedAt + IDLE_MS,
    lastUsedAt: grantedAt,
  };
}

/** A grant that somebody allows now (ms), with the lengths of `madeUp`. */
export function someGrant(made: MadeUp, now: number): Grant {
  const [client, account] = [CLIENTS, made.accounts].map((count) => Math.floor(Math.random() * count));
  return allowed(made, newGrantId(now), client as number, account as number, now);
}

/** The grant of an account for a client, as an Allow makes it. */
function allowed(made: MadeUp, id: Buffer, client: number, account: number, at: number): Grant {
  const names = scopeNames(made.scope);
  const asked = {
    client: { id: clientId(client), epoch: 0, scopes: [] },
    scope: names,
    redirectUri: redirectUri(client),
    codeChallenge: made.challenge,
    resource: null,
    resourceIsDefault: false,
  };
  const times = { signedInAt: at, authTime: at, amr: [] };
  const signIn = { resourceOwnerId: accountId(account), providerId: null, externalId: null, ...times };
  const owner = { ...signIn, session: Buffer.alloc(0) };
  const epochs = { installation: 0, client: 0, resourceOwner: 0 };
  return newGrant(
    {
      asked,
      scope: names,
      personFields: PERSON_FIELDS,
      owner,
      given: 'allowed',
      origin: { source: '203.0.113.7', requestId: 'req-0123456789' },
    },
    { id, epochs, keyId: made.keyId, expiresAt: at + CODE_MS },
    LIFETIMES,
    at,
  );
}

/** Issues a grant, with its event. */
export function issue(store: Store, grant: Grant): Promise<boolean> {
  const actor = {
    kind: 'user',
    id: grant.resourceOwnerId,
    source: '203.0.113.7',
    requestId: 'req-0123456789',
  } as const;
  const { clientId, resourceOwnerId, grantedAt } = grant;
  const about = { clientId, resourceOwnerId, grantId: grantIdText(grant.id) };
  return store.issueGrant(
    grant,
    auditEvent('consent_allowed', actor, grantedAt, about, { scopes: scopeNames(grant.scope) }),
  );
}

/** What the next rotation of a grant writes. */
export function next(grantId: Buffer, generation: number, now: number): Generation {
  const keyId = keyring.currentKeyId;
  return {
    grantId,
    generation,
    keyId,
    rotatedAt: now,
    accessTokenExpiresAt: now + ACCESS_MS,
    expiresAt: now + IDLE_MS,
  };
}

/** Does something with each of some things, so many at a time; throws when one fails. Answers what each answered. */
export async function inFlight<T, Answer>(
  things: readonly T[],
  act: (thing: T) => Promise<Answer>,
  atOnce = IN_FLIGHT,
): Promise<Answer[]> {
  const queue = things.entries();
  const answers: Answer[] = [];
  const work = async () => {
    for (const [place, thing] of queue) answers[place] = await act(thing);
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return answers;
}

/** Picks `count` of some things at random, each at most once. */
export function some<T>(things: readonly T[], count: number): T[] {
  const left = [...things];
  return Array.from({ length: Math.min(count, left.length) }, () => {
    const at = Math.floor(Math.random() * left.length);
    const last = left.pop() as T;
    if (at >= left.length) return last;
    const taken = left[at] as T;
    left[at] = last;
    return taken;
  });
}

/** Rows under a head, as a table of Markdown. */
export function markdown(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => '---'), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
