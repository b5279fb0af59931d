import { effectPill, isSensitive, type Permission } from '../consent/permission-list.ts';
import { type Html, html } from '../html/html.ts';
import { isolated } from '../html/isolated-text.ts';
import { copyScriptTag } from '../layout/copy-script.ts';
import { layout, type PageContext, supportLink } from '../layout/layout.ts';
import { problemNotice } from '../layout/problem-notice.ts';
import type { Messages } from '../messages/messages.ts';
import type { PublishedAddresses, StandardAddresses } from './developers-examples.ts';
import { publishedSections } from './developers-published.ts';
import { copyableAddress, ruleList, type Section, termList, termRow } from './developers-section.ts';
import { librarySection, verifySection } from './developers-standard.ts';

type Texts = Messages['developers'];

/** One rate limit: at most `count` in `seconds`. */
export type PublishedLimit = { kind: keyof Texts['limits']['kinds']; count: number; seconds: number };

/** Data of the developers' page. */
export type DevelopersData = PublishedAddresses & {
  standard: StandardAddresses;
  /** The reader's client ID for the examples; null if there is none, or none that may be in them. */
  clientId: string | null;
  isClientIdRefused: boolean;
  /** True if users may sign in at the reader's app. */
  signsIn: boolean;
  /** The OpenAPI document of both faces, an absolute URL. */
  openApiUrl: string;
  /** The scopes that the installation defines, each with its sentence in the page's language if there is one. */
  scopes: readonly Permission[];
  lifetimes: {
    codeSeconds: number;
    accessTokenSeconds: number;
    refreshTokenIdleSeconds: number;
    refreshTokenMaxSeconds: number;
    refreshOverlapSeconds: number;
    refreshRetryWindowSeconds: number;
  };
  limits: readonly PublishedLimit[];
};

/** The page from which developers integrate their app: the choice of a face, both faces, and what holds for both. */
export function developersPage(context: PageContext, data: DevelopersData): Html {
  const { messages } = context;
  const texts = messages.developers;
  const sections = developersSections(context, data);
  const help = supportLink(context);
  return layout(
    context,
    { title: texts.title, shape: 'guide', script: copyScriptTag(context), hasHelp: true },
    html`<div class="intro"><h1>${texts.heading}</h1>
<p class="lead">${texts.lead(context.brand.productName)}</p>
${ways(context)}
${clientIdForm(context, data)}</div>
<nav class="contents" aria-label="${texts.contents}"><ul>
${sections.map(({ id, heading, isStep }) => html`<li${isStep && html` class="step"`}><a href="#${id}">${heading}</a></li>\n`)}</ul></nav>
<div class="chapters">
${sections.map(foldedSection)}
${help && html`<p class="aside">${texts.help} ${help}</p>`}
</div>`,
  );
}

/** Returns what the page says, section by section. */
export function developersSections(context: PageContext, data: DevelopersData): Section[] {
  const { messages } = context;
  const texts = messages.developers;
  return [
    needSection(texts, data),
    ...scopesSection(messages, data),
    librarySection(context, data),
    ...publishedSections(messages, data),
    safelySection(texts),
    verifySection(messages, data.standard),
    lifetimesSection(messages, data),
    errorsSection(texts),
    ...limitsSection(texts, data),
  ];
}

/**
 * A section that opens. Its anchor is inside `details`: a browser opens the closed `details` around a fragment's target
 * (HTML, ancestor revealing algorithm), not one in it. What a newcomer needs first is open.
 */
function foldedSection({ id, heading, body, isStep }: Section): Html {
  return html`<details${isStep && html` class="step"`}${id === 'need' && html` open`}>
<summary><h2>${heading}</h2></summary>
<div class="chapter" id="${id}">\n${body}\n</div>
</details>\n`;
}

function ways({ messages: { developers }, paths }: PageContext): Html {
  const { ways: texts, library, calls, programs } = developers;
  return html`<ul class="ways">
<li><a href="#library">${library.heading}</a><p>${texts.library}</p></li>
<li><a href="#calls">${calls.heading}</a><p>${texts.calls}</p></li>
</ul>
<p class="fine">${texts.same} ${programs.alsoAs(paths.developersMarkdown)}</p>`;
}

/** A form that only reads, so it is a GET. */
function clientIdForm({ messages, paths }: PageContext, { clientId, isClientIdRefused }: DevelopersData): Html {
  const { fill } = messages.developers;
  const refused = isClientIdRefused && html`aria-invalid="true"`;
  return html`${isClientIdRefused && problemNotice(fill.refused)}
<form method="get" action="${paths.developers}" class="find"><div class="field"><label for="client_id">${fill.label}</label><input id="client_id" name="client_id" value="${clientId}" maxlength="255" dir="ltr" autocomplete="off" autocapitalize="none" spellcheck="false" aria-describedby="${isClientIdRefused && 'problem '}fill" ${refused}></div><button class="secondary">${fill.submit}</button></form>
<p class="fine" id="fill">${fill.hint}</p>`;
}

function needSection({ need, calls }: Texts, addresses: PublishedAddresses): Section {
  const list = termList(
    termRow(need.clientId, need.clientIdText),
    termRow(need.clientSecret, need.clientSecretText),
    termRow(calls.authorizationUrl, copyableAddress(addresses.authorizationUrl)),
    termRow(calls.accessTokenRequestUrl, copyableAddress(addresses.accessTokenRequestUrl)),
    termRow(calls.refreshTokenRequestUrl, copyableAddress(addresses.refreshTokenRequestUrl)),
  );
  return { id: 'need', heading: need.heading, body: html`<p>${need.text}</p>\n${list}\n<p>${need.pickUp}</p>` };
}

function scopesSection(
  { developers: { scopes: texts }, permissions }: Messages,
  { scopes }: DevelopersData,
): Section[] {
  const list = scopes.map((scope) => {
    const mark = isSensitive(scope) && effectPill(permissions, 'sensitive');
    return termRow(html`<code>${scope.name}</code>`, html`${isolated(scope.sentence ?? '', 300)}${mark}`);
  });
  const body = html`<p>${texts.text}</p>\n${termList(...list)}`;
  return scopes.length > 0 ? [{ id: 'scopes', heading: texts.heading, body }] : [];
}

function safelySection({ safely }: Texts): Section {
  const body = ruleList(safely.retry, safely.overlap, safely.reuse, safely.restart, safely.accessToken);
  return { id: 'safely', heading: safely.heading, body };
}

function lifetimesSection({ developers: { lifetimes: texts }, duration }: Messages, data: DevelopersData): Section {
  const { lifetimes } = data;
  const list = termList(
    termRow(texts.code, duration(lifetimes.codeSeconds)),
    termRow(texts.accessToken, duration(lifetimes.accessTokenSeconds)),
    termRow(texts.refreshTokenIdle, duration(lifetimes.refreshTokenIdleSeconds)),
    termRow(texts.refreshTokenMax, duration(lifetimes.refreshTokenMaxSeconds)),
    termRow(texts.overlap, duration(lifetimes.refreshOverlapSeconds)),
    termRow(texts.retryWindow, duration(lifetimes.refreshRetryWindowSeconds)),
  );
  return { id: 'lifetimes', heading: texts.heading, body: html`${list}\n<p class="fine">${texts.note}</p>` };
}

function errorRow(code: string, status: string, meaning: Html | string): Html {
  return termRow(html`<code>${code}</code>`, meaning, status);
}

function errorsSection({ errors: texts }: Texts): Section {
  const onReturn = termList(
    errorRow('access_denied', '', texts.access_denied),
    errorRow('invalid_request', '', texts.authorization_invalid_request),
    errorRow('invalid_scope', '', texts.invalid_scope),
    errorRow('invalid_target', '', texts.invalid_target),
    errorRow('unsupported_response_type', '', texts.unsupported_response_type),
    termRow(html`<code>login_required</code>, <code>consent_required</code>`, texts.interaction),
  );
  const onTokens = termList(
    errorRow('invalid_request', '400 405 413 415', texts.invalid_request),
    errorRow('invalid_client', '401', texts.invalid_client),
    errorRow('invalid_grant', '400', texts.invalid_grant),
    errorRow('unauthorized_client', '400', texts.unauthorized_client),
    errorRow('unsupported_grant_type', '400', texts.unsupported_grant_type),
    termRow(html`<code>authorization_pending</code>, <code>slow_down</code>`, texts.pending, '400'),
    errorRow('expired_token', '400', texts.expired_token),
    errorRow('temporarily_unavailable', '429 503', texts.temporarily_unavailable),
  );
  const onMe = termList(
    errorRow('missing_token', '401', texts.missing_token),
    errorRow('invalid_token', '401', texts.invalid_token),
  );
  const { reasons } = texts;
  // Error answers link to these ids: they must not change.
  const whyRefused = termList(
    ...Object.entries(reasons.kinds).map(([kind, { term, text }]) => termRow(term, text, '', `reason-${kind}`)),
  );
  const body = html`<h3>${texts.onReturn}</h3>\n${onReturn}\n<p class="fine">${texts.page}</p>
<h3>${texts.onTokens}</h3>\n${onTokens}\n<h3>${reasons.heading}</h3>\n<p>${reasons.text}</p>\n${whyRefused}\n<h3>${texts.onMe}</h3>\n${onMe}`;
  return { id: 'errors', heading: texts.heading, body };
}

function limitsSection({ limits: texts }: Texts, { limits }: DevelopersData): Section[] {
  const list = limits.map(({ kind, count, seconds }) => termRow(texts.kinds[kind], texts.rate(count, seconds)));
  const body = html`<p>${texts.text}</p>\n${termList(...list)}`;
  return limits.length > 0 ? [{ id: 'limits', heading: texts.heading, body }] : [];
}
