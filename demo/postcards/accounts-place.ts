/** Where the people of the demonstration have their accounts, as Postcards speaks of it. */
export type AccountsPlace = {
  /** What people call it. */
  readonly name: string;
  /** The page where they take access back. */
  readonly appsUrl: string;
};
