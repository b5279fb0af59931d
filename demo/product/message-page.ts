import { type Html, html } from '../../src/pages/html/html.ts';
import { layout } from './layout.ts';

/** The messages of a page after a visit that failed. */
export type Message = 'nothing_waits' | 'refused' | 'foreign_form' | 'not_found';

const TEXTS: Readonly<Record<Message, { heading: string; text: string }>> = {
  nothing_waits: { heading: 'Nothing waits here', text: 'Go back to the app, and connect from there.' },
  refused: {
    heading: 'You’re not connected',
    text: 'Valetkey didn’t take our word for it. Go back to the app, and connect once more.',
  },
  foreign_form: { heading: 'That didn’t come from here', text: 'Nothing was changed.' },
  not_found: { heading: 'Nothing developed here', text: 'There is no such page.' },
};

/** A page that says why. */
export function messagePage(message: Message): Html {
  const { heading, text } = TEXTS[message];
  return layout({
    title: heading,
    person: null,
    main: html`<section class="card"><h1>${heading}</h1><p class="lead">${text}</p><p><a class="button" href="/">To Tintype</a></p></section>`,
  });
}
