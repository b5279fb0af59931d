/** The words of what a finder of a credential can do with it. */
import { type Html, html } from '../../html/html.ts';
import { isolated } from '../../html/isolated-text.ts';

/** The kind of a credential, why it does not work (null while it works), and what it is worthless without. */
export type CredentialUse = {
  readonly kind: keyof typeof USES;
  readonly deadBecause: string | null;
  /** True if it works again later, such as once its app is resumed. */
  readonly isHeldUp: boolean;
  readonly needs: readonly (keyof typeof NEEDS)[];
};

/** "Yes", which alarms, with what a finder can do, and what for it is needed besides; or why the credential does not work. */
export function worksText({ kind, deadBecause, isHeldUp, needs }: CredentialUse): Html {
  if (deadBecause !== null) return html`No${isHeldUp && ', for now'}: ${isolated(deadBecause, 300)}`;
  const use = USES[kind];
  if (needs.length === 0) return html`<strong class="effect sensitive">Yes</strong> Whoever has it can at once ${use}.`;
  const others = needs.map((need) => NEEDS[need]).join(' and ');
  return html`<strong class="effect sensitive">Yes</strong> Alone, it gives nothing. Whoever also has ${others} can ${use}.`;
}

const NEEDS = {
  secret: 'the app’s secret',
  'private key': 'the app’s private key',
  verifier: 'the code verifier (PKCE) that the app keeps',
  allow: 'a person’s Allow',
} as const;

/** The use of each kind for a finder, behind "Whoever has it can". */
const USES = {
  'access token': 'do what is below, until it expires',
  'refresh token': 'get new tokens, and do what is below',
  'authorization code': 'get tokens, and do what is below',
  'device code': 'get tokens',
  'client secret': 'act as the app, and use codes and refresh tokens of it that leaked too',
  'secret of an API': 'check tokens as the API',
  'secret of an identity provider': 'act as the product',
  'key of an operator': 'do what the key has rights for',
  'pick-up link': 'use it',
  'invitation link': 'use it',
  'enrollment link': 'use it',
  'sign-in link': 'use it',
} as const;
