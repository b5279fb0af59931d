/** The developers' page on the published face: four calls that an app makes by itself. */
import { html } from '../html/html.ts';
import type { Messages } from '../messages/messages.ts';
import { callExamples, type PublishedAddresses, setUpExample } from './developers-examples.ts';
import { codeBlock, type Section } from './developers-section.ts';

/** The addresses, the reader's client ID, and the lifetime of a code (s). */
type PublishedData = PublishedAddresses & { clientId: string | null; lifetimes: { codeSeconds: number } };

/** Returns the sections on the requirements of the four calls, and on each call. */
export function publishedSections({ developers: texts, duration }: Messages, data: PublishedData): Section[] {
  const { calls } = texts;
  const body = html`<p>${calls.text}</p>\n<p>${calls.setUp}</p>\n${codeBlock(calls.setUpLabel, setUpExample(data.clientId))}\n<p>${calls.go}</p>`;
  return [{ id: 'calls', heading: calls.heading, body }, ...steps(texts, data, duration(data.lifetimes.codeSeconds))];
}

function steps(texts: Messages['developers'], data: PublishedData, codeLifetime: string): Section[] {
  const examples = callExamples(data, data.clientId);
  return (['authorize', 'exchange', 'refresh', 'me'] as const).map((call) => {
    const { name, heading } = texts[call];
    const text = call === 'exchange' ? texts.exchange.text(codeLifetime) : texts[call].text;
    const request = codeBlock(texts.example(name), examples[call].request);
    const answer = codeBlock(texts.answer(name), examples[call].answer);
    const { address, addressLabel, shell, back, byHand, options } = texts.authorize;
    const body =
      call === 'authorize'
        ? html`<p>${text}</p>\n<p>${address}</p>\n${codeBlock(addressLabel, examples.authorize.address)}\n<p>${shell}</p>\n${request}
<p>${back}</p>\n${answer}\n<p>${byHand(codeLifetime)}</p>\n<p>${options}</p>`
        : html`<p>${text}</p>\n${request}\n${answer}`;
    return { id: call, heading, body, isStep: true };
  });
}
