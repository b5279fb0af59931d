/** The publisher of an app, according to the operator. */
import { type Html, html } from '../html/html.ts';
import { icons } from '../html/icons.ts';
import { isolatedAddress } from '../html/isolated-text.ts';
import { elsewhere, type PageContext } from '../layout/layout.ts';

/** An app's profile on pages, besides its name. */
export type AppProfile = {
  publisher: string | null;
  homepage: string | null;
  privacyPage: string | null;
  contact: string | null;
  /** True if the operator vouches for the publisher and the redirect hosts. */
  isChecked: boolean;
  /** Host of the app's metadata document; null if it has none. */
  documentHost: string | null;
};

/**
 * Returns the lines below an app's name: publisher, whether it is checked, the document's host, the redirect `hosts`,
 * and links to read more.
 */
export function appProfile({ messages, brand }: PageContext, profile: AppProfile, hosts: readonly string[] = []): Html {
  const texts = messages.appProfile;
  const { publisher, homepage, privacyPage, contact, isChecked, documentHost } = profile;
  const link = (address: string | null, text: string) => {
    const anchor = elsewhere(messages, address, text);
    return anchor && html`<li>${anchor}</li>`;
  };
  return html`<ul class="profile">
<li>${publisher === null ? texts.unknownPublisher : texts.publisher(publisher)}</li>
${isChecked ? html`<li class="checked">${icons.shield}${texts.checked(brand.productName)}</li>` : html`<li class="unchecked">${icons.warning}${texts.unchecked(brand.productName)}</li>`}
${documentHost !== null && html`<li>${texts.documentHost(documentHost)}</li>`}
${hosts.map((host) => html`<li>${isolatedAddress(host)}</li>`)}
</ul>
${(homepage ?? privacyPage ?? contact) !== null && html`<ul class="profile">${link(homepage, texts.homepage)}${link(privacyPage, texts.privacy)}${link(contact, texts.contact)}</ul>`}`;
}
