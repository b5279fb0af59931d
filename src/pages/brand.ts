/** What the operator's product looks like on the pages. */
export type Brand = {
  /** What the pages call the product. */
  productName: string;
  /** The product's colour, `#rrggbb`; any colour keeps the pages readable. */
  colour: string;
  /** A path of this service or a `data:` URL; null shows the product's initial instead. */
  logoHref: string | null;
  /** Where people find help: an e-mail address or an https URL. */
  supportAddress: string | null;
};
