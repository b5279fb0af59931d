import { type Html, html } from '../../src/pages/html/html.ts';
import { connectButton, layout } from './layout.ts';
import { lake, stamp } from './picture.ts';

/** The first page: what Postcards does, and the button that asks for access. */
export function startPage(accountsAt: string): Html {
  return layout(
    'Your photos, on paper',
    html`<section class="postcard">
${lake}
<div class="reverse">
${stamp}
<h1>Send the photo, not the link</h1>
<p class="lead">Postcards prints your best picture on thick paper, and posts it to somebody you miss.</p>
${connectButton(`Connect with ${accountsAt}`)}
<p class="aside">Your photos and addresses stay at ${accountsAt}. Postcards only asks to look.</p>
</div>
</section>
<h2 class="unseen">How it goes</h2>
<ol class="steps">
<li><h3>Sign in at ${accountsAt}</h3><p>With the email and password from your terminal. Postcards sees neither.</p></li>
<li><h3>Allow it, or don’t</h3><p>Valetkey says in words what Postcards would be able to do.</p></li>
<li><h3>Look behind it</h3><p>Back here, you find every call that was made, and what came of it.</p></li>
</ol>`,
  );
}
