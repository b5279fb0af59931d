import { type Html, html } from '../../src/pages/html/html.ts';
import { sign } from './picture.ts';

const ICON = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect y="5" width="32" height="22" fill="#b3261e"/><rect x="3" y="8" width="26" height="16" fill="#fffdf8"/><rect x="20" y="11" width="6" height="7" fill="#24508f"/></svg>',
)}`;

/** A page of Postcards around its main part, which holds the one `h1`. */
export function layout(title: string, main: Html): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Postcards</title>
<link rel="icon" href="${ICON}">
<link rel="stylesheet" href="/postcards.css">
</head>
<body>
<header><a class="name" href="/">${sign}Postcards</a></header>
<main>
${main}
</main>
<footer>Postcards is made up. What it does with Valetkey is real, and ends with this demonstration.</footer>
</body>
</html>
`;
}

/** The button that begins the connection. */
export function connectButton(text: string): Html {
  return html`<form method="post" action="/connect"><button class="primary">${text}</button></form>`;
}
