import { callExamples, type DeveloperAddresses, setUpExample } from './developers-examples.ts';
import { type Html, html } from './html.ts';
import { layout, type PageContext, supportLink } from './layout.ts';
import type { Messages } from './messages/messages.ts';

type Texts = Messages['developers'];

/** One rate limit: at most `count` in `seconds`. */
export type PublishedLimit = { kind: keyof Texts['limits']['kinds']; count: number; seconds: number };

/** What the developers' page shows. */
export type DevelopersData = DeveloperAddresses & {
  /** Where OAuth libraries find everything (RFC 8414), an absolute URL; null if that is not offered. */
  metadataUrl: string | null;
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

type Section = { id: string; heading: string; body: Html };

/** The page that an app's developer integrates from: the five things, the four calls, lifetimes, errors and limits. */
export function developersPage(context: PageContext, data: DevelopersData): Html {
  const texts = context.messages.developers;
  const sections = [
    needSection(texts, data),
    ...callSections(texts, data),
    safelySection(texts),
    lifetimesSection(context.messages, data),
    errorsSection(texts),
    ...limitsSection(texts, data),
    ...librariesSection(texts, data),
  ];
  const help = supportLink(context);
  return layout(
    context,
    { title: texts.title, shape: 'guide' },
    html`<div class="intro"><h1>${texts.heading}</h1>
<p class="lead">${texts.lead(context.brand.productName)}</p></div>
<nav class="contents" aria-label="${texts.contents}"><ul>
${sections.map(({ id, heading }) => html`<li><a href="#${id}">${heading}</a></li>\n`)}</ul></nav>
<div class="chapters">
${sections.map(({ id, heading, body }) => html`<section id="${id}">\n<h2>${heading}</h2>\n${body}\n</section>\n`)}
${help && html`<p class="aside">${texts.help} ${help}</p>`}
</div>`,
  );
}

function code(label: string, text: string): Html {
  return html`<pre class="code" dir="ltr" tabindex="0" role="region" aria-label="${label}"><code>${text}</code></pre>`;
}

function row(term: Html | string, description: Html | string): Html {
  return html`<div><dt>${term}</dt><dd>${description}</dd></div>\n`;
}

function rows(...items: Html[]): Html {
  return html`<dl class="rows">\n${items}</dl>`;
}

function url(address: string): Html {
  return html`<code class="address" dir="ltr">${address}</code>`;
}

function needSection({ need, setUp }: Texts, data: DevelopersData): Section {
  const list = rows(
    row(need.clientId, need.clientIdText),
    row(need.clientSecret, need.clientSecretText),
    row(need.authorizationUrl, url(data.authorizationUrl)),
    row(need.accessTokenRequestUrl, url(data.accessTokenRequestUrl)),
    row(need.refreshTokenRequestUrl, url(data.refreshTokenRequestUrl)),
  );
  const body = html`<p>${need.text}</p>\n${list}\n<p>${setUp.text}</p>\n${code(setUp.label, setUpExample)}`;
  return { id: 'need', heading: need.heading, body };
}

function callSections(texts: Texts, data: DevelopersData): Section[] {
  const examples = callExamples(data);
  return (['authorize', 'exchange', 'refresh', 'me'] as const).map((call) => {
    const { name, heading, text } = texts[call];
    const request = code(texts.example(name), examples[call].request);
    const answer = code(texts.answer(name), examples[call].answer);
    const { back, options } = texts.authorize;
    const body =
      call === 'authorize'
        ? html`<p>${text}</p>\n${request}\n<p>${back}</p>\n${answer}\n<p>${options}</p>`
        : html`<p>${text}</p>\n${request}\n${answer}`;
    return { id: call, heading, body };
  });
}

function safelySection({ safely }: Texts): Section {
  const rules = [safely.retry, safely.overlap, safely.reuse, safely.restart, safely.accessToken];
  return {
    id: 'safely',
    heading: safely.heading,
    body: html`<ul>\n${rules.map((rule) => html`<li>${rule}</li>\n`)}</ul>`,
  };
}

function lifetimesSection({ developers: { lifetimes: texts }, duration }: Messages, data: DevelopersData): Section {
  const { lifetimes } = data;
  const list = rows(
    row(texts.code, duration(lifetimes.codeSeconds)),
    row(texts.accessToken, duration(lifetimes.accessTokenSeconds)),
    row(texts.refreshTokenIdle, duration(lifetimes.refreshTokenIdleSeconds)),
    row(texts.refreshTokenMax, duration(lifetimes.refreshTokenMaxSeconds)),
    row(texts.overlap, duration(lifetimes.refreshOverlapSeconds)),
    row(texts.retryWindow, duration(lifetimes.refreshRetryWindowSeconds)),
  );
  return { id: 'lifetimes', heading: texts.heading, body: html`${list}\n<p class="fine">${texts.note}</p>` };
}

function errorRow(code: string, status: string, meaning: Html | string): Html {
  return row(html`<code>${code}</code> <span class="status">${status}</span>`, meaning);
}

function errorsSection({ errors: texts }: Texts): Section {
  const onReturn = rows(
    errorRow('access_denied', '', texts.access_denied),
    errorRow('invalid_request', '', texts.authorization_invalid_request),
    errorRow('invalid_scope', '', texts.invalid_scope),
    errorRow('unsupported_response_type', '', texts.unsupported_response_type),
  );
  const onTokens = rows(
    errorRow('invalid_request', '400 405 413 415', texts.invalid_request),
    errorRow('invalid_client', '401', texts.invalid_client),
    errorRow('invalid_grant', '400', texts.invalid_grant),
    errorRow('unauthorized_client', '400', texts.unauthorized_client),
    errorRow('unsupported_grant_type', '400', texts.unsupported_grant_type),
    errorRow('temporarily_unavailable', '429 503', texts.temporarily_unavailable),
  );
  const onMe = rows(
    errorRow('missing_token', '401', texts.missing_token),
    errorRow('invalid_token', '401', texts.invalid_token),
  );
  const body = html`<h3>${texts.onReturn}</h3>\n${onReturn}\n<p class="fine">${texts.page}</p>
<h3>${texts.onTokens}</h3>\n${onTokens}\n<h3>${texts.onMe}</h3>\n${onMe}`;
  return { id: 'errors', heading: texts.heading, body };
}

function limitsSection({ limits: texts }: Texts, { limits }: DevelopersData): Section[] {
  const list = limits.map(({ kind, count, seconds }) => row(texts.kinds[kind], texts.rate(count, seconds)));
  const body = html`<p>${texts.text}</p>\n${rows(...list)}`;
  return limits.length > 0 ? [{ id: 'limits', heading: texts.heading, body }] : [];
}

function librariesSection({ libraries: texts }: Texts, { metadataUrl }: DevelopersData): Section[] {
  if (metadataUrl === null) return [];
  return [
    { id: 'libraries', heading: texts.heading, body: html`<p>${texts.text}</p>\n${code(texts.label, metadataUrl)}` },
  ];
}
