/** Who is behind an app, as far as the operator says. */
import { type Html, html } from './html.ts';
import { icons } from './icons.ts';
import { isolatedAddress } from './isolated.ts';
import { elsewhere, type PageContext } from './layout.ts';

/** What pages show of an app besides its name. */
export type AppProfile = {
  publisher: string | null;
  homepage: string | null;
  privacyPage: string | null;
  contact: string | null;
  /** Whether the operator vouches for the publisher and the hosts that the app sends people to. */
  isChecked: boolean;
  /** Host of the document in which the app describes itself; null if it has none. */
  documentHost: string | null;
};

/** The lines below an app's name: who makes it, whether that was checked, where it describes itself, the `hosts` it sends people to, and where to read more. */
export function appProfile({ messages, brand }: PageContext, profile: AppProfile, hosts: readonly string[] = []): Html {
  const texts = messages.appProfile;
  const { publisher, homepage, privacyPage, contact, isChecked, documentHost } = profile;
  const link = (address: string | null, text: string) => {
    const anchor = elsewhere(messages, address, text);
    return anchor && html`<li>${anchor}</li>`;
  };
  return html`<ul class="profile">
<li>${publisher === null ? texts.unknownPublisher : texts.publisher(publisher)}</li>
${isChecked && html`<li class="checked">${icons.shield}${texts.checked(brand.productName)}</li>`}
${documentHost !== null && html`<li>${texts.documentHost(documentHost)}</li>`}
${hosts.map((host) => html`<li>${isolatedAddress(host)}</li>`)}
</ul>
${(homepage ?? privacyPage ?? contact) !== null && html`<ul class="profile">${link(homepage, texts.homepage)}${link(privacyPage, texts.privacy)}${link(contact, texts.contact)}</ul>`}`;
}
