import { displayName, initial } from '../html/display-name.ts';
import { type Html, html } from '../html/html.ts';
import { isolated } from '../html/isolated-text.ts';
import type { Brand } from './brand.ts';

/** A plate with the first letter of a name; decoration, so the name must stand near it. */
export function monogram(name: string, shape: 'person' | 'app' | 'product'): Html {
  return html`<span class="monogram ${shape}" aria-hidden="true">${initial(name)}</span>`;
}

/** The product's logo; without one, its initial in its color and its name. */
export function brandMark(brand: Brand): Html {
  if (brand.logoHref !== null) {
    const { logoHref, logoDarkHref } = brand;
    const picture = html`<img class="logo${logoDarkHref === null && ' on-white'}" src="${logoHref}" alt="${displayName(brand.productName)}">`;
    if (logoDarkHref === null) return picture;
    return html`<picture><source srcset="${logoDarkHref}" media="(prefers-color-scheme: dark)">${picture}</picture>`;
  }
  return html`${monogram(brand.productName, 'product')}<span>${isolated(brand.productName)}</span>`;
}

/** The address of the tab's icon: the logo, or the initial on the brand's color as a `data:` URL. */
export function iconHref(brand: Brand, textColor: string): string {
  if (brand.logoHref !== null) return brand.logoHref;
  const picture = html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="9" fill="${brand.color}"/><text x="16" y="22.5" text-anchor="middle" font-family="system-ui,sans-serif" font-size="19" font-weight="700" fill="${textColor}">${initial(brand.productName)}</text></svg>`;
  return `data:image/svg+xml,${encodeURIComponent(String(picture).toWellFormed())}`;
}
