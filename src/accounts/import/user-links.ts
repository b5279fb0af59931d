/** Links existing accounts to identities at a provider: their users then sign in there, and keep their grants. */

import { OperatorError } from '../../oauth/error.ts';
import type { GrantStore } from '../../oauth/protocol/grant-store.ts';
import { type Actor, auditEvent } from '../../oauth/trail/audit.ts';
import { type Account, accountLabel } from '../people/account.ts';
import { type Identity, type IdentityProvider, identityId, subjectProblem } from '../people/identity-provider.ts';
import type { IdentityProviderStore, IdentityStore } from '../people/store.ts';
import type { Accounts } from '../sign-in/accounts.ts';
import { type JsonLine, readJsonLines } from './import-lines.ts';
import { groupsOf } from './line-groups.ts';

/** The parts of linking. `now` returns ms since the epoch. */
export type UserLinksParts = {
  readonly store: Pick<IdentityStore, 'findIdentity' | 'linkIdentity' | 'listIdentities'> &
    Pick<IdentityProviderStore, 'listIdentityProviders'> &
    Pick<GrantStore, 'countLiveGrants'>;
  readonly accounts: Pick<Accounts, 'show'>;
  readonly now: () => number;
};

/** The keys of a line: an account as operators name it, and who it is at a provider. */
const LINK_KEYS = ['account', 'provider', 'subject'] as const;

/** Which account is whom. */
export type Link = Readonly<Record<(typeof LINK_KEYS)[number], string>>;

/** The account, and whether it was linked just now or before. */
export type Linked = { readonly account: Account; readonly outcome: 'linked' | 'already' };

/** The result of a file: numbers of lines, and the reasons for refused ones, in the file's order. */
export type LinkReport = {
  readonly linked: number;
  readonly already: number;
  readonly refused: readonly { readonly line: number; readonly reason: string }[];
};

/** Links accounts for an operator. */
export class UserLinks {
  readonly #parts: UserLinksParts;

  constructor(parts: UserLinksParts) {
    this.#parts = parts;
  }

  /** Returns an account's identities, oldest first. */
  identitiesOf({ id }: Account): Promise<Identity[]> {
    return this.#parts.store.listIdentities(id);
  }

  /** Links one account; the same once more changes nothing. Throws an `OperatorError` when it is refused. */
  async link(link: Link, operator: Actor): Promise<Linked> {
    return this.#link(link, await this.#providers(), operator);
  }

  /** Links the accounts of a file that comes in pieces, each line by itself. Throws an `OperatorError` when none can be linked. */
  async run(pieces: AsyncIterable<Buffer>, operator: Actor): Promise<LinkReport> {
    const providers = await this.#providers();
    const counts = { linked: 0, already: 0 };
    const refused: { line: number; reason: string }[] = [];
    const takeLine = async (line: JsonLine<keyof Link>) => {
      try {
        counts[(await this.#link(linkOf(line), providers, operator)).outcome] += 1;
      } catch (error) {
        if (!(error instanceof OperatorError)) throw error;
        refused.push({ line: line.line, reason: error.atCommandLine });
      }
    };
    const groups = groupsOf(readJsonLines(pieces, LINK_KEYS), personOf);
    for await (const lines of groups) await Promise.all(lines.map(takeLine));
    return { ...counts, refused: refused.toSorted((one, other) => one.line - other.line) };
  }

  async #providers(): Promise<IdentityProvider[]> {
    const providers = await this.#parts.store.listIdentityProviders();
    if (providers.some(({ ownIds }) => ownIds))
      throw new OperatorError('all accounts come from one provider with --own-ids: none can be linked to another one');
    return providers;
  }

  async #link(
    { account: name, provider: providerId, subject }: Link,
    providers: readonly IdentityProvider[],
    operator: Actor,
  ) {
    const provider = providers.find(({ id }) => id === providerId);
    if (!provider) throw new OperatorError(`provider: none is registered as ${JSON.stringify(providerId)}`);
    const problem = subjectProblem(subject);
    if (problem) throw new OperatorError(`subject: ${problem}`);
    const account = await this.#parts.accounts.show(name);
    return this.#linkTo(account, provider, subject, operator);
  }

  async #linkTo(account: Account, provider: IdentityProvider, subject: string, operator: Actor): Promise<Linked> {
    const { store, now } = this.#parts;
    const found = await store.findIdentity(provider.id, subject);
    if (found?.account.id === account.id) return { account, outcome: 'already' };
    if (found) throw new OperatorError(await this.#taken(found.account));
    const at = now();
    const id = identityId(provider.id, subject);
    const identity = { id, providerId: provider.id, accountId: account.id, createdAt: at };
    const event = auditEvent('user_linked', operator, at, {
      resourceOwnerId: account.id,
      clientId: provider.id,
    });
    if (await store.linkIdentity(identity, event)) return { account, outcome: 'linked' };
    // Another request was faster: the subject now has an account, or this account was deleted.
    return this.#linkTo(await this.#parts.accounts.show(account), provider, subject, operator);
  }

  async #taken(owner: Account): Promise<string> {
    const grants = await this.#parts.store.countLiveGrants(owner.id, this.#parts.now());
    const label = accountLabel(owner) === owner.id ? owner.id : `${owner.id} (${accountLabel(owner)})`;
    return `subject: it is account ${label} already, which has ${grants} live ${grants === 1 ? 'grant' : 'grants'}`;
  }
}

function linkOf(line: JsonLine<keyof Link>): Link {
  if ('problem' in line) throw new OperatorError(line.problem);
  const missing = LINK_KEYS.find((key) => line.said[key] === null);
  if (missing) throw new OperatorError(`${missing}: it is missing`);
  return line.said as Link;
}

/** Returns the identity that a line links, as a list; empty if the line has none. */
function personOf(line: JsonLine<keyof Link>): string[] {
  return 'said' in line ? [identityId(`${line.said.provider}`, `${line.said.subject}`)] : [];
}
