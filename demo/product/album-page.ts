import { type Html, html } from '../../src/pages/html/html.ts';
import { layout } from './layout.ts';
import type { Person } from './people.ts';
import { photos } from './picture.ts';

/** The page of a user's album. */
export function albumPage(person: Person): Html {
  return layout({
    title: 'Album',
    person,
    main: html`<div class="heading"><h1>${person.name.split(' ')[0]}’s album</h1>
<p class="lead">${photos.length} photos, seen by you and by the <a href="/settings/apps">apps that you connected</a>.</p></div>
<ul class="album">
${photos.map(({ title, picture }) => html`<li><figure>${picture}<figcaption>${title}</figcaption></figure></li>\n`)}</ul>`,
  });
}
