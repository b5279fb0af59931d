/** The appearance of the operator's product on the pages. */
export type Brand = {
  /** The product's name on the pages. */
  productName: string;
  /** The product's color, `#rrggbb`; pages stay readable with any color. */
  color: string;
  /** A path of this service or a `data:` URL; null shows the product's initial instead. */
  logoHref: string | null;
  /** The same for dark pages; null shows the logo of light pages on white. */
  logoDarkHref: string | null;
  /** An email address or https URL where people find help. */
  supportAddress: string | null;
};
