/** Where the pages are, and the files that belong to them: the one list of what stands below the base path. */

/**
 * The paths of the pages for a base path: empty, or `/` and a name, once or more, without a slash at the end. The
 * authorization pages are not among them: their addresses are published, and stay whatever the base is.
 */
export function pagePaths(base: string) {
  return {
    home: base || '/',
    signIn: `${base}/sign-in`,
    /** Where sign-in at an identity provider begins, and where it comes back. */
    signInWith: `${base}/sign-in/with`,
    signInContinue: `${base}/sign-in/continue`,
    signOut: `${base}/sign-out`,
    /** The links to all pages of a signed-in person. */
    account: `${base}/account`,
    apps: `${base}/account/apps`,
    removeApp: `${base}/account/apps/revoke`,
    removeAllApps: `${base}/account/apps/remove-all`,
    password: `${base}/account/password`,
    /** Where invited people set a password. */
    newPassword: `${base}/account/new-password`,
    /** Where a password is changed that must be, before anybody is signed in. */
    mustChange: `${base}/sign-in/new-password`,
    device: `${base}/device`,
    developers: `${base}/developers`,
    openApi: `${base}/openapi.json`,
    logo: `${base}/assets/logo`,
    /** The stylesheet whose text has this digest, so that browsers may keep it for good. */
    stylesheet: (digest: string) => `${base}/assets/valetkey-${digest}.css`,
    /** The same of the script of the developers' page. */
    copyScript: (digest: string) => `${base}/assets/copy-${digest}.js`,
  } as const;
}

/** Returns true for the address of a page about the account. */
export function isAboutAccount({ account }: PagePaths, url: string): boolean {
  const [path] = url.split('?');
  return path === account || url.startsWith(`${account}/`);
}

/** Where the pages are. */
export type PagePaths = ReturnType<typeof pagePaths>;
