/** A credential or one-time link that was identified. */
import type { FoundGrant } from '../../oauth/protocol/grant-store.ts';
import type { HandOverKind } from '../hand-over/hand-over.ts';

/** The kinds of one-time links. */
const LINK_KINDS = ['pick-up link', 'invitation link', 'enrollment link', 'sign-in link'] as const;

/** The kind of a one-time link. */
export type LinkKind = (typeof LINK_KINDS)[number];

/** True for the kind of a one-time link. */
export function isLinkKind(kind: Identified['kind']): kind is LinkKind {
  return LINK_KINDS.some((each) => each === kind);
}

/** A thing that a credential is worthless without: the app's secret or private key, its PKCE verifier, or a user's Allow. */
export type FinderNeed = 'secret' | 'private key' | 'verifier' | 'allow';

/** A credential that was identified. Times in ms; null where there is none. */
export type Identified = {
  readonly kind:
    | 'authorization code'
    | 'access token'
    | 'refresh token'
    | 'device code'
    | 'client secret'
    | 'secret of an API'
    | 'secret of an identity provider'
    | 'key of an operator'
    | LinkKind;
  /** The app, API, identity provider, operator or user that it was made for. */
  readonly owner: {
    readonly kind: HandOverKind | 'operator' | 'user';
    readonly id: string;
    readonly name: string;
  };
  /** The user for whom it acts, or whose password it sets. */
  readonly person: { readonly id: string; readonly name: string; readonly email: string | null } | null;
  readonly grant: FoundGrant | null;
  /** Of a live secret: its place among those of its owner, newest first. */
  readonly secretAt?: number;
  readonly madeAt: number | null;
  readonly expiresAt: number | null;
  /** Why it does not work now, in words for the operator; null while it works. */
  readonly deadBecause: string | null;
  /** True if it would work again once its app or product is resumed, or its user enabled. */
  readonly isHeldUp: boolean;
  /** The things that a finder needs besides it, while it works. */
  readonly needs: readonly FinderNeed[];
};
