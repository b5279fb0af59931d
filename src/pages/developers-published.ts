/** The developers' page on the published face: four calls that an app makes by itself. */
import { callExamples, type PublishedAddresses, setUpExample } from './developers-examples.ts';
import { code, row, rows, type Section, url } from './developers-section.ts';
import { html } from './html.ts';
import type { Messages } from './messages/messages.ts';

/** What the four calls need, and each of them. */
export function publishedSections({ developers: texts }: Messages, addresses: PublishedAddresses): Section[] {
  const { calls } = texts;
  const list = rows(
    row(calls.authorizationUrl, url(addresses.authorizationUrl)),
    row(calls.accessTokenRequestUrl, url(addresses.accessTokenRequestUrl)),
    row(calls.refreshTokenRequestUrl, url(addresses.refreshTokenRequestUrl)),
  );
  const body = html`<p>${calls.text}</p>\n${list}\n<p>${calls.setUp}</p>\n${code(calls.setUpLabel, setUpExample)}\n<p>${calls.go}</p>`;
  return [{ id: 'calls', heading: calls.heading, body }, ...steps(texts, addresses)];
}

function steps(texts: Messages['developers'], addresses: PublishedAddresses): Section[] {
  const examples = callExamples(addresses);
  return (['authorize', 'exchange', 'refresh', 'me'] as const).map((call) => {
    const { name, heading, text } = texts[call];
    const request = code(texts.example(name), examples[call].request);
    const answer = code(texts.answer(name), examples[call].answer);
    const { back, options } = texts.authorize;
    const body =
      call === 'authorize'
        ? html`<p>${text}</p>\n${request}\n<p>${back}</p>\n${answer}\n<p>${options}</p>`
        : html`<p>${text}</p>\n${request}\n${answer}`;
    return { id: call, heading, body, isStep: true };
  });
}
