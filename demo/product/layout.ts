import { type Html, html } from '../../src/pages/html/html.ts';
import type { Person } from './people.ts';
import { LOGO } from './picture.ts';

/** The frame of a page around its main part, which holds the one `h1`. */
export type PageParts = {
  readonly title: string;
  /** The signed-in user, or null. */
  readonly person: Person | null;
  readonly main: Html;
};

/** A page of Tintype. */
export function layout({ title, person, main }: PageParts): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Tintype</title>
<link rel="icon" href="${LOGO}">
<link rel="stylesheet" href="/tintype.css">
</head>
<body>
<header>
<a class="name" href="/"><img src="${LOGO}" alt="" width="32" height="32">Tintype</a>
${person && menu(person)}
</header>
<main>
${main}
</main>
<footer>Tintype is made up, with accounts of its own. What it asks Valetkey is real, and ends with this demonstration.</footer>
</body>
</html>
`;
}

function menu({ name }: Person): Html {
  return html`<nav aria-label="Tintype"><a href="/">Album</a><a href="/settings/apps">Settings</a></nav>
<span class="who">${name}</span>
<form method="post" action="/sign-out"><button class="quiet">Sign out</button></form>`;
}
