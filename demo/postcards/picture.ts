import { html } from '../../src/pages/html/html.ts';

/** The picture side of the postcard: a lake at noon, or by night where the dark is preferred. */
export const lake = html`<svg class="lake" viewBox="0 0 480 420" preserveAspectRatio="xMidYMid slice" aria-hidden="true">
<rect class="sky" width="480" height="420"/>
<circle class="sun" cx="352" cy="104" r="46"/>
<path class="far" d="M0 236 74 150l48 50 78-112 92 128 56-60 132 104v40H0z"/>
<path class="snow" d="m200 88-30 43 15-5 14 12 16-13 18 6z"/>
<path class="near" d="M0 262c80-44 150-40 226-8 90-46 174-38 254 2v30H0z"/>
<rect class="water" y="276" width="480" height="144"/>
<path class="glint" d="M300 300h104M326 318h60M288 338h126M344 358h40"/>
<path class="sail" d="M150 204v92h-58zM158 226v70h40z"/>
<path class="hull" d="M82 304h132l-20 26h-92z"/>
</svg>`;

/** A stamp and its postmark. */
export const stamp = html`<svg class="stamp" viewBox="0 0 150 104" aria-hidden="true">
<rect class="stamp-paper" x="66" y="4" width="80" height="96"/>
<rect class="perforation" x="66" y="4" width="80" height="96"/>
<rect class="stamp-picture" x="75" y="13" width="62" height="78"/>
<path class="stamp-bird" d="M82 62c14-2 20-12 22-26 6 8 16 12 28 10-4 6-10 8-12 8-2 14-14 22-30 20l8-8z"/>
<circle class="postmark" cx="44" cy="56" r="33"/><circle class="postmark" cx="44" cy="56" r="24"/>
<path class="postmark" d="M74 40q8-6 16 0t16 0 16 0 16 0M76 56q8-6 16 0t16 0 16 0 16 0M74 72q8-6 16 0t16 0 16 0 16 0"/>
</svg>`;

/** The sign beside the company's name. */
export const sign = html`<svg class="sign" viewBox="0 0 32 24" aria-hidden="true"><rect class="sign-card" x="1.5" y="1.5" width="29" height="21"/><path class="sign-lines" d="M5 15h8M5 18.500h6M17 5v14"/><rect class="sign-stamp" x="22" y="5" width="5" height="6"/></svg>`;
