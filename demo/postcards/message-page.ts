import { type Html, html } from '../../src/pages/html/html.ts';
import { connectButton, layout } from './layout.ts';
import { stamp } from './picture.ts';

/** The messages of a page after a visit that failed. */
export type Message = 'denied' | 'refused' | 'foreign_answer' | 'foreign_form' | 'not_found';

const TEXTS: Readonly<Record<Message, { heading: string; text: string }>> = {
  denied: {
    heading: 'That’s fine, nothing was shared',
    text: 'You chose Deny, so Valetkey sent your browser back with an error and without a code. Postcards knows nothing about you.',
  },
  refused: {
    heading: 'Valetkey didn’t go along',
    text: 'It sent your browser back with an error instead of a code. Nothing was shared.',
  },
  foreign_answer: {
    heading: 'This answer isn’t yours',
    text: 'Postcards gave your browser a state that nobody can guess, and takes only the answer that brings it back, once. This one didn’t, so it was thrown away.',
  },
  foreign_form: {
    heading: 'That didn’t come from here',
    text: 'Postcards does only what its own pages ask for. Nothing was changed.',
  },
  not_found: { heading: 'Return to sender', text: 'There is nothing at this address.' },
};

/** A page that explains why there is no connection; `error` is what Valetkey sent, if it did. */
export function messagePage(accountsAt: string, message: Message, error: string | null = null): Html {
  const { heading, text } = TEXTS[message];
  return layout(
    heading,
    html`<section class="letter">
${stamp}
<h1>${heading}</h1>
<p class="lead">${text}</p>
${error !== null && html`<pre>error=${error}</pre>`}
${message === 'not_found' ? html`<p><a class="button" href="/">To the start page</a></p>` : connectButton(`Connect with ${accountsAt}`)}
</section>`,
  );
}
