/** The form for a found credential, and what it is. No page holds the credential. */
import { type Html, html } from '../../html/html.ts';
import { icons } from '../../html/icons.ts';
import { isolated } from '../../html/isolated-text.ts';
import type { PageContext } from '../../layout/layout.ts';
import { asSentence } from '../act-button.ts';
import type { ConsolePage } from '../frame.ts';
import { facts } from '../table.ts';
import { type CredentialUse, worksText } from './finder.ts';
import { grantFacts, LEAKED, type LeakedApp, leakSteps, ownerFacts, secretFacts } from './leak-steps.ts';
import { linkSteps, type ShownLink } from './link-steps.ts';

/** A credential that was identified. Times in ms. */
export type ShownCredential = CredentialUse & {
  readonly owner: { readonly kind: keyof typeof OWNERS; readonly id: string; readonly name: string };
  readonly madeAt: number | null;
  readonly expiresAt: number | null;
  /** The app whose token, code or secret it is; otherwise null. */
  readonly app: LeakedApp | null;
  /** The one-time link that it is; otherwise null. */
  readonly link: Omit<ShownLink, 'href' | 'noun'> | null;
};

/** The owners: noun, path of the page, and the remedy for a secret or key, unless it is an app's. */
const OWNERS = {
  client: ['App', '/apps', ''],
  resource_server: [
    'API',
    '/apis',
    'Give the API a new secret, then retire this one. Its page names the commands. Until then, whoever has it can check tokens.',
  ],
  identity_provider: [
    'Product',
    '/products',
    'Act at once: whoever has it can sign in as any user of the product. On the product’s page, pause it. Then change the secret, end everything given since, and resume it.',
  ],
  operator: ['Operator', '/operators', 'End the key on the operator’s page. Then look at what it did.'],
  user: ['Person', '/people', ''],
} as const;

const WHAT_IS_IT = 'Identify a leaked credential';

/** The page with the form; `problem` says why nothing was identified. */
export function leakedPage(problem: string | null): ConsolePage {
  return {
    frame: { title: WHAT_IS_IT, section: 'Leaks', isProblem: problem !== null },
    main: html`<h1>${WHAT_IS_IT}</h1>
<p class="lead">Paste a token, code, secret, key or one-time link that somebody found. You see what it is, whose it is, and how to end it. Nothing of it is stored or logged, and a look uses no link up.</p>
${problem !== null && html`<div class="notice problem" role="alert">${icons.alert}<div><strong>Not identified.</strong> ${asSentence(problem)}</div></div>`}
${form}`,
  };
}

const form = html`<form method="post" action="/leaked" class="stack narrow part" autocomplete="off">
<div class="field"><label for="credential">The whole credential or link</label><textarea id="credential" name="credential" rows="4" required autocomplete="off" autocapitalize="off" spellcheck="false"></textarea></div>
<button class="primary">Identify</button>
</form>`;

/** The page of an identified credential, which follows the post. */
export function identifiedPage(context: PageContext, found: ShownCredential): ConsolePage {
  const { kind, owner, app, madeAt, expiresAt, deadBecause, isHeldUp } = found;
  const { messages } = context;
  const [noun, path] = OWNERS[owner.kind];
  return {
    frame: { title: 'Identified', section: 'Leaks', parents: [LEAKED] },
    main: html`<h1>${kind.charAt(0).toUpperCase()}${kind.slice(1)} of ${isolated(owner.name)}</h1>
${facts([
  ['Works', worksText(found)],
  ...ownerFacts(noun, `${path}/${encodeURIComponent(owner.id)}`, owner.name),
  ...grantFacts(context, app?.grant ?? null),
  ...secretFacts(context, app?.secret ?? null),
  ['Made', madeAt !== null && messages.minute(madeAt)],
  ['Expires', (deadBecause === null || isHeldUp) && expiresAt !== null && messages.minute(expiresAt)],
])}
${whatToDo(found)}
<p class="part"><a href="/leaked">Identify another credential</a></p>`,
  };
}

function whatToDo({ owner, app, link, deadBecause, isHeldUp, madeAt }: ShownCredential): Html {
  const isDead = deadBecause !== null && !isHeldUp;
  if (app) return leakSteps(app, { isDead, since: madeAt });
  const [noun, path, words] = OWNERS[owner.kind];
  const href = `${path}/${encodeURIComponent(owner.id)}`;
  const inText = noun === 'API' ? noun : noun.toLowerCase();
  if (link) return linkSteps({ ...link, href, noun: inText });
  if (isDead)
    return html`<section class="part"><h2>What to do now</h2><p>Nothing: it gives no access now.</p></section>`;
  return html`<section class="part"><h2>What to do now</h2><p>${words}</p>
<p><a class="button secondary" href="${href}">Open the ${inText}</a></p></section>`;
}
