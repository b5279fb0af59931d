/** The form for a found credential, and what it is. No page holds the credential. */
import { type Html, html } from '../../html.ts';
import { icons } from '../../icons.ts';
import { isolated, isolatedAddress } from '../../isolated.ts';
import type { PageContext } from '../../layout.ts';
import { asSentence } from '../act.ts';
import { consoleLayout, type ShownOperator } from '../frame.ts';
import { facts } from '../table.ts';
import { type LeakedApp, leakSteps } from './leak-steps.ts';

/** A credential that was identified. Times in ms. */
export type ShownCredential = {
  readonly kind: 'authorization code' | 'access token' | 'refresh token' | 'device code' | keyof typeof OWNERS;
  readonly owner: { readonly id: string; readonly name: string };
  readonly person: { readonly id: string; readonly name: string } | null;
  readonly grantId: string | null;
  readonly madeAt: number | null;
  readonly expiresAt: number | null;
  /** Null while it works. */
  readonly deadBecause: string | null;
  /** The app that it was made for; null for any other owner. */
  readonly app: LeakedApp | null;
};

/** The owners of secrets: noun, path of the page, and the remedy unless it is an app. */
const OWNERS = {
  'client secret': ['App', '/apps', ''],
  'secret of an API': [
    'API',
    '/apis',
    'Give the API a new secret, then retire this one. Its page names the commands. Until then, whoever has it can check tokens.',
  ],
  'secret of an identity provider': [
    'Product',
    '/products',
    'Act at once: whoever has it can sign in as any user of the product. On the product’s page, pause it. Then change the secret, end everything given since, and resume it.',
  ],
  'key of an operator': ['Operator', '/operators', 'End the key on the operator’s page. Then look at what it did.'],
} as const;

/** The page with the form; `problem` says why nothing was identified. */
export function leakedPage(context: PageContext, operator: ShownOperator, problem: string | null): Html {
  return consoleLayout(
    context,
    operator,
    { title: 'Leaked', isProblem: problem !== null },
    html`<h1>Found a credential?</h1>
<p class="lead">Paste a token, code, secret or key that somebody found. You see what it is, whose it is, and how to end it. Nothing of it is stored or logged. A one-time link is not identified: make a newer one where it was made, which ends it.</p>
${problem !== null && html`<div class="notice problem" role="alert">${icons.alert}<div><strong>Not identified.</strong> ${asSentence(problem)}</div></div>`}
${form}`,
  );
}

const form = html`<form method="post" action="/leaked" class="stack narrow part" autocomplete="off">
<div class="field"><label for="credential">The whole credential</label><textarea id="credential" name="credential" rows="4" required autocomplete="off" autocapitalize="off" spellcheck="false"></textarea></div>
<button class="primary">Identify</button>
</form>`;

/** The page of an identified credential, which follows the post. */
export function identifiedPage(context: PageContext, operator: ShownOperator, found: ShownCredential): Html {
  const { kind, owner, person, grantId, madeAt, expiresAt, deadBecause, app } = found;
  const { messages } = context;
  const [noun, path] = kind in OWNERS ? OWNERS[kind as keyof typeof OWNERS] : OWNERS['client secret'];
  return consoleLayout(
    context,
    operator,
    { title: 'Identified', section: 'Leaked' },
    html`<h1>${kind.charAt(0).toUpperCase()}${kind.slice(1)} of ${isolated(owner.name)}</h1>
${facts([
  ['Works', deadBecause === null ? html`<strong>Yes</strong>` : html`No: ${isolated(deadBecause, 300)}`],
  [noun, html`<a href="${path}/${encodeURIComponent(owner.id)}">${isolated(owner.name)}</a>`],
  ['Person', person && html`<a href="/people/${encodeURIComponent(person.id)}">${isolated(person.name)}</a>`],
  [
    'Grant',
    grantId !== null &&
      html`<a href="/grants/${encodeURIComponent(grantId)}"><code>${isolatedAddress(grantId)}</code></a>`,
  ],
  ['Made', madeAt !== null && messages.minute(madeAt)],
  ['Expires', expiresAt !== null && messages.minute(expiresAt)],
])}
${app ? leakSteps(app) : elsewhere(kind, deadBecause, `${path}/${encodeURIComponent(owner.id)}`)}
<p class="part"><a href="/leaked">Identify another credential</a></p>
<p class="fine">All times are UTC.</p>`,
  );
}

function elsewhere(kind: ShownCredential['kind'], deadBecause: string | null, href: string): Html {
  if (deadBecause !== null)
    return html`<section class="part"><h2>What to do now</h2><p>Nothing: it gives no access now.</p></section>`;
  const [noun, , words] = OWNERS[kind as keyof typeof OWNERS];
  return html`<section class="part"><h2>What to do now</h2><p>${words}</p>
<p><a class="button secondary" href="${href}">Open the ${noun === 'API' ? noun : noun.toLowerCase()}</a></p></section>`;
}
