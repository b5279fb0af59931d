/**
 * Identifies a found credential: its kind, its owner, and if it still works. Stores and logs nothing of the credential, and
 * decides nothing on one that is not genuine.
 */

import { accountLabel } from '../../accounts/people/account.ts';
import type { AccountStore } from '../../accounts/people/store.ts';
import type { Client } from '../../oauth/clients/client.ts';
import type { ClientStore } from '../../oauth/clients/client-store.ts';
import {
  type DeviceCode,
  decideDevicePoll,
  isDeviceCodeExpired,
  readDeviceCode,
} from '../../oauth/device/device-authorization.ts';
import type { DeviceRequestStore } from '../../oauth/device/device-request-store.ts';
import { Refusal } from '../../oauth/error.ts';
import { isEnded, type Lifetimes } from '../../oauth/grants/grant.ts';
import {
  type Credential,
  type CredentialKind,
  isGenuine,
  readChecked,
  readCredential,
} from '../../oauth/keys/credential.ts';
import type { Keyring } from '../../oauth/keys/keyring.ts';
import { type StoredSecret, secretDigest } from '../../oauth/keys/secret.ts';
import type { FoundGrant, GrantStore } from '../../oauth/protocol/grant-store.ts';
import type { ResourceServerStore } from '../../oauth/resource-servers/resource-server-store.ts';
import { decideAccessToken } from '../../oauth/tokens/access-token.ts';
import { decideRefresh, retryTimes } from '../../oauth/tokens/refresh-token.ts';
import { isKeyText } from '../access/operator-key.ts';
import { operatorTokenDigest } from '../access/operator-session.ts';
import type { OperatorStore } from '../access/operator-store.ts';
import type { HandOverKind } from '../hand-over/hand-over.ts';
import type { Identified } from './identified-credential.ts';
import { identifyLink, type LinkStore, linkToken } from './identify-one-time-link.ts';
import { finderNeeds } from './needed-besides-credential.ts';

/** The parts of `Identification`. `now` returns ms. */
export type IdentificationParts = {
  readonly store: Pick<GrantStore, 'findGrant'> &
    Pick<DeviceRequestStore, 'findDeviceRequest'> &
    Pick<ClientStore, 'findClientBySecret'> &
    Pick<ResourceServerStore, 'findResourceServerBySecret'> &
    Pick<AccountStore, 'findIdentityProviderBySecret'> &
    Pick<OperatorStore, 'findOperatorKey'> &
    LinkStore;
  readonly keyring: Keyring;
  readonly lifetimes: Lifetimes;
  readonly prefix: string;
  readonly now: () => number;
};

const KINDS = { ac: 'authorization code', at: 'access token', rt: 'refresh token' } as const;

/** The letters in the beginning of each kind of credential. */
const LETTERS = ['ac', 'at', 'rt', 'dc', 'cs', 'rs', 'ps', 'ok'];

/** Ended access leaves no data, so its credentials look like those of another installation. */
const FORGOTTEN =
  'this credential gives no access here: it is not of this installation, or its access ended more than a day ago, or its app, user, root key or secret was removed';
const UNREADABLE =
  'this is not a credential of this installation, or it is mistyped or incomplete: give the whole text, and nothing else';

const UNKNOWN_LINK =
  'no link of this installation has this token now: it was used, replaced or withdrawn, or it is of another installation, or mistyped';

/** Maximum length of a text to identify: longer than any credential. */
export const MAX_CREDENTIAL_LENGTH = 4096;

/** Identifies credentials. */
export class Identification {
  readonly #parts: IdentificationParts;

  constructor(parts: IdentificationParts) {
    this.#parts = parts;
  }

  /** Identifies a text; null if this installation did not make it, or if it is mistyped or incomplete. */
  async identify(text: string): Promise<Identified | null> {
    const { prefix } = this.#parts;
    for (const kind of Object.keys(KINDS) as CredentialKind[]) {
      const credential = readCredential(prefix, kind, text);
      if (credential) return this.#credential(credential);
    }
    const token = linkToken(text);
    if (token !== null) return identifyLink(this.#parts.store, token, this.#parts.now());
    return (await this.#deviceCode(text)) ?? this.#secret(text);
  }

  /** True for a text that may be a credential, a part of one, or a mistyped one: no address, page or log may have it. */
  mayBeCredential(text: string): boolean {
    return text.includes(`${this.#parts.prefix}_`) || linkToken(text) !== null || /[\w-]{40}|\btoken=/.test(text);
  }

  /** Says why a text is not identified, in a sentence for the operator. */
  whyUnknown(text: string): string {
    if (this.#isWhole(text)) return FORGOTTEN;
    return linkToken(text) === null ? UNREADABLE : UNKNOWN_LINK;
  }

  #isWhole(text: string): boolean {
    return LETTERS.some((letters) => readChecked(`${this.#parts.prefix}_${letters}_`, text) !== null);
  }

  async #credential(credential: Credential): Promise<Identified | null> {
    const { store, keyring } = this.#parts;
    const found = await store.findGrant(credential.grantId);
    if (!found || !isGenuine(keyring, credential, found.grant.seed)) return null;
    const { grant, client } = found;
    const expiresAt = credential.kind === 'rt' ? grant.expiresAt : credential.expiresAt;
    return {
      kind: KINDS[credential.kind],
      owner: appOf(client),
      ...partyOf(found),
      // Of earlier generations the time is not kept.
      madeAt: credential.generation === grant.generation ? grant.rotatedAt : null,
      expiresAt,
      deadBecause: this.#whyDead(credential, found),
      isHeldUp: isHeldUp(found) && expiresAt > this.#parts.now(),
      needs: finderNeeds(KINDS[credential.kind], client, grant),
    };
  }

  /** The same decisions as where it is presented, without what they would write. */
  #whyDead(credential: Credential, found: FoundGrant): string | null {
    const { keyring, lifetimes } = this.#parts;
    const now = this.#parts.now();
    const { grant, client } = found;
    const ended = whyEnded(found);
    if (ended !== null) return ended;
    if (credential.kind === 'at')
      return reasonOf(decideAccessToken({ keyring, credential, found, isGoodHere: () => true, now }));
    if (credential.kind === 'rt') {
      const asked = { scope: undefined, resources: [] };
      const decision = decideRefresh({ keyring, lifetimes, client, credential, found, asked, now });
      return reasonOf(decision);
    }
    if (grant.generation > 0) return 'the authorization code was used';
    return credential.expiresAt <= now ? 'the authorization code has expired' : null;
  }

  /** A device code is sealed: whoever made one that opens is this installation. */
  async #deviceCode(text: string): Promise<Identified | null> {
    const { store, keyring, prefix } = this.#parts;
    const code = readDeviceCode(keyring, prefix, text);
    const owner = code && (await store.findClient(code.clientId));
    if (!code || !owner) return null;
    const grant = await store.findGrant(code.grantId);
    return {
      kind: 'device code',
      owner: appOf(owner),
      ...partyOf(grant),
      madeAt: null,
      expiresAt: code.expiresAt,
      deadBecause: grant ? this.#whyRedeemed(code, grant) : await this.#whyNeverAllowed(code, owner),
      isHeldUp: grant ? isHeldUp(grant) : owner.status === 'paused',
      needs: finderNeeds('device code', owner, grant?.grant ?? null),
    };
  }

  #whyRedeemed(deviceCode: DeviceCode, found: FoundGrant): string | null {
    const { keyring, lifetimes, now } = this.#parts;
    const { retryWindow } = retryTimes(found.client, lifetimes, found.grant);
    return (
      whyEnded(found) ?? reasonOf(decideDevicePoll({ keyring, lifetimes, deviceCode, found, retryWindow, now: now() }))
    );
  }

  async #whyNeverAllowed({ userCode, grantId, expiresAt }: DeviceCode, owner: Client): Promise<string | null> {
    const { store, now } = this.#parts;
    if (owner.status === 'paused') return `${owner.name} is paused`;
    if (!owner.deviceFlow) return `${owner.name} is not registered for devices`;
    const waiting = await store.findDeviceRequest(userCode, now());
    if (isDeviceCodeExpired(expiresAt, now()) || !waiting?.request.grantId.equals(grantId))
      return 'the device code has expired';
    return waiting.decision === 'denied' ? 'its user denied the request' : null;
  }

  async #operatorKey(text: string): Promise<Identified | null> {
    const { store, now } = this.#parts;
    const found = await store.findOperatorKey(operatorTokenDigest(text));
    if (!found) return null;
    const { key, operator } = found;
    const expired = key.expiresAt <= now() ? 'the key has expired' : null;
    const deadBecause = operator.status === 'disabled' ? `${operator.name} is disabled` : expired;
    const { createdAt: madeAt, expiresAt } = key;
    const owner = { kind: 'operator', id: operator.id, name: operator.name } as const;
    return {
      kind: 'key of an operator',
      owner,
      person: null,
      grant: null,
      madeAt,
      expiresAt,
      deadBecause,
      isHeldUp: false,
      needs: [],
    };
  }

  /** Only digests are kept, each with an index. */
  async #secret(text: string): Promise<Identified | null> {
    const { store, prefix } = this.#parts;
    const digest = secretDigest(text);
    if (text.startsWith(`${prefix}_cs_`))
      return ofSecret('client secret', 'client', await store.findClientBySecret(digest), digest);
    if (text.startsWith(`${prefix}_rs_`))
      return ofSecret('secret of an API', 'resource_server', await store.findResourceServerBySecret(digest), digest);
    if (text.startsWith(`${prefix}_ps_`))
      return ofSecret(
        'secret of an identity provider',
        'identity_provider',
        await store.findIdentityProviderBySecret(digest),
        digest,
      );
    return isKeyText(prefix, text) ? this.#operatorKey(text) : null;
  }
}

type Owner = {
  readonly id: string;
  readonly name: string;
  readonly secrets: readonly StoredSecret[];
  readonly status?: 'active' | 'paused';
};

function ofSecret(
  kind: Identified['kind'],
  ownerKind: HandOverKind,
  owner: Owner | null,
  digest: Buffer,
): Identified | null {
  const secret = owner?.secrets.find((each) => each.digest.equals(digest));
  if (!owner || !secret) return null;
  const { id, name, status, secrets } = owner;
  return {
    kind,
    owner: { kind: ownerKind, id, name },
    person: null,
    grant: null,
    secretAt: secrets.indexOf(secret),
    madeAt: secret.createdAt,
    expiresAt: null,
    deadBecause: status === 'paused' ? `${name} is paused` : null,
    isHeldUp: status === 'paused',
    needs: [],
  };
}

function appOf({ id, name }: Client): Identified['owner'] {
  return { kind: 'client', id, name };
}

function partyOf(grant: FoundGrant | null): Pick<Identified, 'grant' | 'person'> {
  const person = grant && {
    id: grant.resourceOwner.id,
    name: accountLabel(grant.resourceOwner),
    email: grant.resourceOwner.email,
  };
  return { grant, person };
}

/** Why nothing of a grant works, in the words of the pages; null if some of it may. */
function whyEnded({ grant, standing, client, resourceOwner }: FoundGrant): string | null {
  if (isEnded(grant, standing)) return 'its grant ended';
  if (standing.clientPaused) return `${client.name} is paused`;
  return standing.resourceOwnerDisabled ? `${accountLabel(resourceOwner)} is disabled` : null;
}

/** True while a pause of the app, or of the user, refuses the credentials of a grant that goes on. */
function isHeldUp({ grant, standing }: FoundGrant): boolean {
  return !isEnded(grant, standing) && (standing.clientPaused || standing.resourceOwnerDisabled);
}

/** The reason of a decision that refuses, in words for the operator; null for one that does not. */
function reasonOf(decision: object): string | null {
  const refusal = 'refusal' in decision ? decision.refusal : decision;
  return refusal instanceof Refusal ? refusal.detail : null;
}
