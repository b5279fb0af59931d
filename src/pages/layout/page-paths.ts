/** The paths of the pages and their files: the only list of what is below the base path. */

/**
 * Returns the paths of the pages below a base path: empty, or `/` and a name, once or more, without a slash at the
 * end. Without the authorization pages: their addresses are published, and do not depend on the base path.
 */
export function pagePaths(base: string) {
  return {
    home: base || '/',
    signIn: `${base}/sign-in`,
    /** Start of a sign-in at an identity provider, and return from it. */
    signInWith: `${base}/sign-in/with`,
    signInContinue: `${base}/sign-in/continue`,
    signOut: `${base}/sign-out`,
    /** The links to all pages of a signed-in user. */
    account: `${base}/account`,
    apps: `${base}/account/apps`,
    removeApp: `${base}/account/apps/revoke`,
    removeAllApps: `${base}/account/apps/remove-all`,
    signOutEverywhere: `${base}/account/sign-out-everywhere`,
    password: `${base}/account/password`,
    /** The page on which invited users set a password. */
    newPassword: `${base}/account/new-password`,
    /** The page on which a user must replace a password before the session begins. */
    mustChange: `${base}/sign-in/new-password`,
    device: `${base}/device`,
    developers: `${base}/developers`,
    developersMarkdown: `${base}/developers.md`,
    /** The list of documents for programs (llmstxt.org), which may be at a subpath. */
    llms: `${base}/llms.txt`,
    /** The page where a developer makes a secret that was handed over. */
    pickUp: `${base}/developers/pick-up`,
    openApi: `${base}/openapi.json`,
    logo: `${base}/assets/logo`,
    logoDark: `${base}/assets/logo-dark`,
    /** The stylesheet whose text has this digest, so that browsers may cache it forever. */
    stylesheet: (digest: string) => `${base}/assets/valetkey-${digest}.css`,
    /** The script of the developers' page, likewise. */
    copyScript: (digest: string) => `${base}/assets/copy-${digest}.js`,
  } as const;
}

/** Returns true for the address of a page about the account. */
export function isAboutAccount({ account }: PagePaths, url: string): boolean {
  const [path] = url.split('?');
  return path === account || url.startsWith(`${account}/`);
}

/** The paths of the pages. */
export type PagePaths = ReturnType<typeof pagePaths>;
