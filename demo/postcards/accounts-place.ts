/** The place of the users' accounts, in Postcards' words. */
export type AccountsPlace = {
  /** Its name. */
  readonly name: string;
  /** The page where they take access back. */
  readonly appsUrl: string;
};
