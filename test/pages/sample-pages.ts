import { type ActivityKind, accountPage } from '../../src/pages/account/account-page.ts';
import type { ConnectedApp, ConnectedLine } from '../../src/pages/account/connected-app-card.ts';
import { connectedAppsPage, type RemovedAccess } from '../../src/pages/account/connected-apps-page.ts';
import { consentPage } from '../../src/pages/consent/consent-page.ts';
import { deviceCodePage, deviceDonePage } from '../../src/pages/consent/device-pages.ts';
import type { Permission } from '../../src/pages/consent/permission-list.ts';
import { type DevelopersData, developersPage } from '../../src/pages/developers/developers-page.ts';
import { pickedUpPage, pickUpPage, usedPickUpPage } from '../../src/pages/developers/pick-up-page.ts';
import { type ErrorKind, errorPage } from '../../src/pages/error-page.ts';
import { homePage } from '../../src/pages/home-page.ts';
import type { Html } from '../../src/pages/html/html.ts';
import type { Brand } from '../../src/pages/layout/brand.ts';
import type { PageContext } from '../../src/pages/layout/layout.ts';
import { pagePaths } from '../../src/pages/layout/page-paths.ts';
import { type Language, messagesFor } from '../../src/pages/messages/messages.ts';
import { invitationPage, mustChangePage, passwordSetPage } from '../../src/pages/sign-in/new-password-page.ts';
import type { PasswordProblemShown } from '../../src/pages/sign-in/password-fields.ts';
import { passwordPage } from '../../src/pages/sign-in/password-page.ts';
import { signInPage } from '../../src/pages/sign-in/sign-in-page.ts';
import { signedOutPage, signOutPage } from '../../src/pages/sign-in/sign-out-page.ts';

/** Replaces a sample text, so that a test can put something hostile in every place that holds text. */
type Replace = (usual: string) => string;

const unchanged: Replace = (usual) => usual;

export const sampleBrand: Brand = {
  productName: 'Northwind',
  color: '#3451d1',
  logoHref: null,
  logoDarkHref: null,
  supportAddress: 'help@northwind.example',
};

export function sampleContext(language: Language, brand: Brand = sampleBrand): PageContext {
  return {
    messages: messagesFor(language),
    language,
    brand,
    paths: pagePaths(''),
    stylesheetHref: '/pages.css',
    copyScriptHref: '/assets/copy-0123456789ab.js',
  };
}

const errorKinds = Object.keys(messagesFor('en').errors.kinds) as ErrorKind[];

/** What may go wrong where somebody who is signed in changes the password. */
const PASSWORD_PROBLEMS: readonly PasswordProblemShown[] = [
  { kind: 'wrong_credentials' },
  { kind: 'different', also: null },
  { kind: 'too_short' },
  { kind: 'too_long' },
  { kind: 'nul' },
  { kind: 'common' },
  { kind: 'guessable' },
  { kind: 'throttled', retryAfterSeconds: 150 },
  { kind: 'busy' },
  { kind: 'form_expired' },
  { kind: 'opened_twice' },
];

/** Every page in every state worth looking at, by name. */
export function samplePages(context: PageContext, text: Replace = unchanged): Record<string, Html> {
  const account = {
    ...{ name: text('Ada Lovelace'), email: text('ada@northwind.example') },
    ...{ at: text('Northwind'), homePage: null },
  };
  const permissions = [
    { name: text('calendar.read'), sentence: text('See your calendars and the events in them') },
    { name: text('calendar.write'), sentence: null },
  ];
  const signIn = {
    hasPassword: true,
    providers: [],
    formToken: text('token'),
    continueTo: text('/auth/oauth2/authorize?client_id=a&state=b'),
    email: text('ada@northwind.example'),
    appName: text('Meeting Room Planner'),
    backToApp: 'https://planner.example/cb?error=access_denied&state=b',
  };
  const newPassword = { email: account.email, formToken: text('token') };
  const pickUp = {
    name: text('Meeting Room Planner'),
    expiresAt: 1_795_000_000_000,
    token: text('token'),
    formToken: text('token'),
  };
  const pickedUp = [
    ['clientId', text('app_6qm1v0t4y8d3k2xz')],
    ['clientSecret', text('vk_cs_c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0YWJjZGVm')],
    ['authorizationUrl', 'https://northwind.example/auth/oauth2/authorize'],
    ['accessTokenRequestUrl', 'https://northwind.example/api/auth/oauth/token'],
    ['refreshTokenRequestUrl', 'https://northwind.example/api/auth/oauth/refreshToken'],
    ['redirectUris', [text('https://planner.example/cb'), 'http://127.0.0.1/cb']],
  ] as const;
  const mustChange = { accountId: text('usr_ada'), continueTo: text('/device') };
  const profile = {
    publisher: text('Planner Ltd'),
    homepage: 'https://planner.example/',
    privacyPage: 'https://planner.example/privacy',
    contact: 'hi@planner.example',
    isChecked: true,
    documentHost: null,
  };
  const nobody = {
    ...{ publisher: null, homepage: null, privacyPage: null, contact: null, isChecked: false },
    documentHost: null,
  };
  const agent = { ...nobody, homepage: 'https://planner.example/', documentHost: text('agent.example') };
  const consent = {
    accessDuration: { max: 31_536_000, unused: 2_592_000 },
    notTaken: null,
    person: { fields: ['name', 'username', 'email', 'avatar_url'] as const, signsIn: false, isNew: false },
    profile,
    appName: text('Meeting Room Planner'),
    account,
    hasAccessAlready: false,
    permissions,
    action: text('/auth/oauth2/authorize?client_id=a&state=b'),
    formToken: text('token'),
    switchAccount: { continueTo: text('/auth/oauth2/authorize?client_id=a'), formToken: text('token') },
  };
  const signsIn = { ...consent.person, signsIn: true };
  const toApp = { redirectHost: text('planner.example') };
  const toDevice = { userCode: text('BCDF-GHJK') };
  const optional = [
    ...permissions,
    { name: text('rooms.book'), sentence: text('Book meeting rooms in your name'), optional: true },
    { name: text('contacts.read'), sentence: null, optional: true },
  ];
  const nine: Permission[] = [
    ...permissions,
    { name: text('rooms.read'), sentence: text('See rooms and who has booked them'), effect: 'reads' },
    { name: text('rooms.change'), sentence: text('Add and change rooms'), effect: 'changes' },
    { name: text('rooms.delete'), sentence: text('Delete rooms for good'), effect: 'sensitive' },
    { name: text('mail.read'), sentence: text('Read your mail'), effect: 'reads' },
    { name: text('mail.send'), sentence: text('Send mail in your name'), effect: 'sensitive' },
    { name: text('rooms.book'), sentence: text('Book meeting rooms in your name'), optional: true },
    { name: text('contacts.read'), sentence: text('See your contacts'), optional: true },
  ];
  const more: Permission[] = [
    { name: text('calendar.read'), sentence: text('See your calendars and the events in them'), earlier: 'allowed' },
    { name: text('calendar.share'), sentence: text('Share your calendars with others') },
    { name: text('rooms.book'), sentence: text('Book meeting rooms in your name'), optional: true },
    { name: text('rooms.cancel'), sentence: text('Cancel meetings'), optional: true, earlier: 'left_out' },
    { name: text('contacts.read'), sentence: text('See your contacts'), optional: true, earlier: 'allowed' },
  ];
  const frame = { account, hasPassword: true, signOutFormToken: text('token') };
  const password = { ...frame, email: account.email, formToken: text('token'), wasChanged: false, hasApps: true };
  const connected = {
    ...frame,
    apps: [],
    ...{ first: 1, shown: 0, total: 0, appCount: 0, alone: null, query: '', after: null, next: null },
    now: 1_795_100_000_000,
    formToken: text('token'),
    removeAllFormToken: text('token'),
    justRemoved: null,
    isOutdated: false,
  };
  const line: ConnectedLine = {
    grantId: text('g'),
    kind: 'app',
    isWaiting: false,
    hosts: [text('planner.example')],
    permissions,
    signsIn: false,
    person: ['name', 'email'],
    since: 1_780_000_000_000,
    lastUsed: 1_795_000_000_000,
    ends: 1_811_536_000_000,
    endsUnused: 1_797_592_000_000,
  };
  const waiting: ConnectedLine = { ...line, isWaiting: true, since: 1_795_000_000_000, lastUsed: null };
  const connectedApp = (more: Partial<ConnectedApp> & Pick<ConnectedApp, 'lines'>): ConnectedApp => ({
    clientId: text('a'),
    appName: text('Meeting Room Planner'),
    profile,
    lineCount: more.lines.length,
    permissions,
    signsIn: false,
    person: ['name', 'email'],
    isWaiting: false,
    lastUsed: line.lastUsed,
    ...more,
  });
  const signedIn = { signsIn: true, permissions: [] };
  const backup = { ...line, permissions: [], since: 1_790_000_000_000, lastUsed: null };
  const apps = [
    connectedApp({
      permissions: nine.slice(0, 7),
      lines: [
        line,
        { ...line, kind: 'device', hosts: [], since: 1_788_000_000_000, lastUsed: 1_794_000_000_000 },
        { ...waiting, kind: 'device', hosts: [] },
      ],
    }),
    connectedApp({
      clientId: text('b'),
      appName: text('Backup'),
      profile: nobody,
      permissions: [],
      lastUsed: null,
      lines: [backup, { ...waiting, permissions: [] }, { ...waiting, permissions: [], since: waiting.since + 7_000 }],
    }),
    connectedApp({ clientId: text('c'), appName: text('Postcards'), ...signedIn, lines: [{ ...line, ...signedIn }] }),
    connectedApp({
      ...{ clientId: text('d'), appName: text('Notes'), isWaiting: true, lastUsed: null, signsIn: true },
      lines: [{ ...waiting, signsIn: true }],
    }),
  ];
  const listed = { ...connected, apps, shown: apps.length, total: apps.length, appCount: apps.length };
  const removed = (what: RemovedAccess) =>
    connectedAppsPage(context, { ...listed, justRemoved: { what, appName: text('Invoice Robot') } });
  const installations = [0, 7_000, 86_400_000].map((later) => ({
    ...line,
    kind: 'installation' as const,
    hosts: [text('localhost')],
    since: 1_790_000_000_000 + later,
  }));
  const someApps = (count: number) =>
    Array.from({ length: Math.min(count, 12) }, (_, at) =>
      connectedApp({
        clientId: text(`app_${at}`),
        appName: text(`App ${at}`),
        permissions: at < 1 ? nine : [],
        profile: at < 1 ? profile : nobody,
        lines: [line],
      }),
    );
  const errors = errorKinds.map(
    (kind) =>
      [
        `error-${kind}`,
        errorPage(context, {
          kind,
          requestId: text('01JD6Q8Z5T3XKM'),
          ...(kind === 'bad_redirect_uri' && { received: text('https://app.example/callbak?next=/notes') }),
          ...(kind === 'unadmitted_client' && { received: text('https://agent.example/oauth/client.json') }),
        }),
      ] as const,
  );
  const developers: DevelopersData = {
    authorizationUrl: text('https://accounts.northwind.example/auth/oauth2/authorize'),
    accessTokenRequestUrl: text('https://accounts.northwind.example/api/auth/oauth/token'),
    refreshTokenRequestUrl: text('https://accounts.northwind.example/api/auth/oauth/refreshToken'),
    meUrl: text('https://api.northwind.example/v2/me'),
    standard: {
      issuer: text('https://accounts.northwind.example'),
      metadataUrl: text('https://accounts.northwind.example/.well-known/oauth-authorization-server'),
      authorizationUrl: text('https://accounts.northwind.example/oauth2/authorize'),
      tokenUrl: text('https://accounts.northwind.example/oauth2/token'),
      revocationUrl: text('https://accounts.northwind.example/oauth2/revoke'),
      introspectionUrl: text('https://accounts.northwind.example/oauth2/introspect'),
      pushedAuthorizationRequestUrl: text('https://accounts.northwind.example/oauth2/par'),
      deviceAuthorizationUrl: text('https://accounts.northwind.example/oauth2/device_authorization'),
      revocationStreamUrl: text('https://accounts.northwind.example/oauth2/revocations'),
    },
    clientId: text('app_4f9c2a71d0be'),
    isClientIdRefused: false,
    signsIn: true,
    openApiUrl: text('https://accounts.northwind.example/openapi.json'),
    scopes: [...permissions, ...nine.slice(2, 5)],
    lifetimes: {
      codeSeconds: 60,
      accessTokenSeconds: 1_800,
      refreshTokenIdleSeconds: 2_592_000,
      refreshTokenMaxSeconds: 31_536_000,
      refreshOverlapSeconds: 10,
      refreshRetryWindowSeconds: 600,
    },
    limits: [
      { kind: 'authorization', count: 1_200, seconds: 60 },
      { kind: 'client_authentication', count: 10, seconds: 60 },
      { kind: 'sign_in_account', count: 5, seconds: 900 },
      { kind: 'sign_in_address', count: 50, seconds: 900 },
      { kind: 'device_code', count: 20, seconds: 600 },
    ],
  };
  return {
    'sign-in': signInPage(context, { ...signIn, problem: null }),
    'sign-in-or-product': signInPage(context, {
      ...signIn,
      problem: null,
      providers: [{ name: text('Photos'), href: '/sign-in/with?provider=product' }],
    }),
    'sign-in-products': signInPage(context, {
      ...signIn,
      problem: null,
      hasPassword: false,
      providers: ['Photos', 'Maps'].map((name) => ({ name: text(name), href: '/sign-in/with?provider=a' })),
    }),
    'sign-in-wrong': signInPage(context, { ...signIn, problem: { kind: 'wrong_credentials' } }),
    'sign-in-throttled': signInPage(context, {
      ...signIn,
      appName: null,
      problem: { kind: 'throttled', retryAfterSeconds: 150 },
    }),
    'sign-in-busy': signInPage(context, { ...signIn, problem: { kind: 'busy' } }),
    'sign-in-expired': signInPage(context, { ...signIn, continueTo: null, problem: { kind: 'form_expired' } }),
    'sign-in-opened-twice': signInPage(context, { ...signIn, problem: { kind: 'opened_twice' } }),
    'sign-in-no-cookies': signInPage(context, { ...signIn, problem: { kind: 'no_cookies' } }),
    'sign-in-pressed-twice': signInPage(context, { ...signIn, continueTo: null, problem: { kind: 'pressed_twice' } }),
    'sign-in-signed-out': signInPage(context, { ...signIn, continueTo: null, problem: { kind: 'signed_out' } }),
    'sign-in-again': signInPage(context, { ...signIn, isAgain: true, problem: null }),
    consent: consentPage(context, { ...consent, ...toApp }),
    'consent-six': consentPage(context, {
      ...consent,
      ...toApp,
      permissions: [
        ...permissions,
        { name: text('rooms.read'), sentence: text('See rooms and who has booked them'), effect: 'reads' as const },
        { name: text('rooms.book'), sentence: text('Book meeting rooms in your name'), effect: 'changes' as const },
        { name: text('contacts.read'), sentence: text('See your contacts') },
        { name: text('mail.send'), sentence: text('Delete meetings of others'), effect: 'sensitive' as const },
      ],
    }),
    'consent-nine': consentPage(context, { ...consent, ...toApp, permissions: nine }),
    'consent-unchecked': consentPage(context, {
      ...consent,
      ...toApp,
      profile: { ...profile, isChecked: false },
      permissions: nine,
    }),
    'consent-effects': consentPage(context, { ...consent, ...toApp, permissions: nine.slice(2, 7) }),
    'consent-fifteen': consentPage(context, {
      ...consent,
      ...toApp,
      permissions: [...nine, ...nine.slice(0, 6).map((each) => ({ ...each, name: `more.${each.name}` }))],
    }),
    'consent-this-device': consentPage(context, { ...consent, redirectHost: 'localhost:51234' }),
    'consent-agent': consentPage(context, {
      ...consent,
      appName: text('Agent'),
      profile: agent,
      redirectHost: 'localhost:51234',
    }),
    'consent-signs-in': consentPage(context, { ...consent, ...toApp, permissions: [], person: signsIn }),
    'consent-signs-in-bare': consentPage(context, {
      ...consent,
      ...toApp,
      permissions: [],
      person: { ...signsIn, fields: [] },
    }),
    'consent-signs-in-options': consentPage(context, { ...consent, ...toApp, permissions: optional, person: signsIn }),
    'consent-signs-in-more': consentPage(context, {
      ...consent,
      ...toApp,
      hasAccessAlready: true,
      permissions: more,
      person: signsIn,
    }),
    'consent-signs-in-also': consentPage(context, {
      ...consent,
      ...toApp,
      hasAccessAlready: true,
      permissions: more,
      person: { ...signsIn, isNew: true },
    }),
    'consent-options': consentPage(context, { ...consent, ...toApp, permissions: optional }),
    ...Object.fromEntries(
      (['expired', 'elsewhere', 'signed_out'] as const).map((why) => [
        `consent-${why}`,
        consentPage(context, { ...consent, ...toApp, permissions: optional, notTaken: { why, choice: [] } }),
      ]),
    ),
    'consent-throttled': consentPage(context, {
      ...consent,
      ...toApp,
      permissions: optional,
      notTaken: { why: 'throttled', retryAfterSeconds: 9, choice: [] },
    }),
    'consent-more': consentPage(context, { ...consent, ...toApp, hasAccessAlready: true, permissions: more }),
    'consent-nothing-new': consentPage(context, {
      ...consent,
      ...toApp,
      hasAccessAlready: true,
      permissions: permissions.map((each) => ({ ...each, earlier: 'allowed' as const })),
    }),
    'consent-device': consentPage(context, { ...consent, ...toDevice, permissions: nine.slice(1, 4) }),
    'consent-device-twelve': consentPage(context, {
      ...consent,
      ...toDevice,
      permissions: [...nine, ...nine.slice(0, 3).map((each) => ({ ...each, name: `more.${each.name}` }))],
    }),
    'consent-device-more': consentPage(context, {
      ...consent,
      ...toDevice,
      hasAccessAlready: true,
      permissions: more,
    }),
    'consent-many': consentPage(context, {
      ...consent,
      ...toApp,
      hasAccessAlready: true,
      permissions: Array.from({ length: 100 }, (_, at) => ({
        name: text(`resource-${at}.read`),
        sentence:
          at % 3 === 0 ? null : text('Read and change every last thing that you have ever kept here. '.repeat(at)),
        optional: at % 2 === 0,
        earlier: at < 50 ? null : 'allowed',
      })),
    }),
    'consent-long': consentPage(context, {
      ...consent,
      person: { fields: [], signsIn: false, isNew: false },
      profile: { ...nobody, publisher: text('P'.repeat(300)) },
      appName: text('<b>Wonderful</b> '.repeat(300)),
      redirectHost: text(`${'very-long-name.'.repeat(12)}planner.example`),
      account: {
        name: text('A'.repeat(300)),
        email: text(`${'ada.'.repeat(30)}lovelace@northwind.example`),
        at: text('Northwind'),
        homePage: null,
      },
      permissions: [
        { name: text('s'.repeat(5_000)), sentence: null },
        { name: text('t'.repeat(5_000)), sentence: text('\u202Eelbadaer'.repeat(500)), optional: true },
      ],
    }),
    'consent-nameless': consentPage(context, {
      ...consent,
      redirectHost: text('planner.example'),
      account: { name: null, email: null, at: text('Photos'), homePage: null },
    }),
    'device-code': deviceCodePage(context, { userCode: '', problem: null }),
    'device-code-unknown': deviceCodePage(context, {
      userCode: text('bcdfghj'),
      problem: { kind: 'unknown_code' },
    }),
    'device-code-answered': deviceCodePage(context, {
      userCode: text('BCDF-GHJK'),
      problem: { kind: 'answered_just_now' },
    }),
    'device-code-throttled': deviceCodePage(context, {
      userCode: text('BCDF-GHJK'),
      problem: { kind: 'throttled', retryAfterSeconds: 150 },
    }),
    'device-allowed': deviceDonePage(context, {
      decision: 'allowed',
      isConnected: false,
      appName: text('Meeting Room Planner'),
    }),
    'device-connected': deviceDonePage(context, {
      decision: 'allowed',
      isConnected: true,
      appName: text('Meeting Room Planner'),
    }),
    'device-denied': deviceDonePage(context, {
      decision: 'denied',
      isConnected: false,
      appName: text('Meeting Room Planner'),
    }),
    'connected-apps': removed('app'),
    'connected-apps-but-devices': removed('appButDevices'),
    'connected-apps-device': removed('device'),
    'connected-apps-waiting': removed('waiting'),
    'connected-apps-installations': connectedAppsPage(context, {
      ...connected,
      apps: [
        connectedApp({
          clientId: 'https://agent.example/client.json',
          appName: text('Agent'),
          profile: agent,
          lines: installations,
        }),
      ],
      ...{ shown: 3, total: 3, appCount: 3, alone: text('a') },
      justRemoved: { what: 'installation', appName: text('Agent') },
    }),
    'connected-apps-page': connectedAppsPage(context, {
      ...connected,
      ...{ apps: someApps(12), first: 4945, shown: 12, total: 5000, appCount: 5000 },
      ...{ after: text('a'), next: text('b') },
      justRemoved: { what: 'app', appName: text('Invoice Robot') },
    }),
    'connected-apps-found': connectedAppsPage(context, {
      ...listed,
      ...{ appCount: 200, query: text('plan') },
    }),
    'connected-apps-not-found': connectedAppsPage(context, { ...connected, appCount: 200, query: text('plan') }),
    'connected-apps-empty': connectedAppsPage(context, connected),
    'connected-apps-removed-all': connectedAppsPage(context, { ...connected, justRemoved: 'everything' }),
    password: passwordPage(context, { ...password, problem: null }),
    'password-without-apps': passwordPage(context, { ...password, problem: null, hasApps: false }),
    'password-different-and-short': passwordPage(context, {
      ...password,
      problem: { kind: 'different', also: 'too_short' },
    }),
    'password-changed': passwordPage(context, { ...password, problem: null, wasChanged: true }),
    ...Object.fromEntries(
      PASSWORD_PROBLEMS.map((problem) => [`password-${problem.kind}`, passwordPage(context, { ...password, problem })]),
    ),
    'pick-up': pickUpPage(context, { ...pickUp, hasSecret: true, problem: null }),
    'pick-up-addresses': pickUpPage(context, { ...pickUp, hasSecret: false, problem: 'form_expired' }),
    'picked-up': pickedUpPage(context, { name: pickUp.name, hasSecret: true, hasEarlier: true, values: pickedUp }),
    'picked-up-addresses': pickedUpPage(context, {
      name: pickUp.name,
      hasSecret: false,
      hasEarlier: false,
      values: pickedUp.toSpliced(1, 1),
    }),
    'pick-up-used': usedPickUpPage(context, 1_795_000_000_000),
    invitation: invitationPage(context, { ...newPassword, token: text('usr_ada.token'), problem: null }),
    'invitation-common': invitationPage(context, { ...newPassword, token: text('t'), problem: { kind: 'common' } }),
    'invitation-no-cookies': invitationPage(context, {
      ...newPassword,
      token: text('t'),
      problem: { kind: 'no_cookies' },
    }),
    'invitation-used': passwordSetPage(context),
    'must-change': mustChangePage(context, { ...newPassword, ...mustChange, problem: null }),
    'must-change-same': mustChangePage(context, { ...newPassword, ...mustChange, problem: { kind: 'same' } }),
    'sign-out': signOutPage(context, {
      formToken: text('token'),
      continueTo: text('/account/apps'),
      signedInAt: null,
      hasApps: true,
    }),
    'sign-out-product': signOutPage(context, {
      formToken: text('token'),
      continueTo: null,
      signedInAt: text('Photos'),
      hasApps: false,
    }),
    'signed-out': signedOutPage(context),
    'signed-out-product': signedOutPage(context, text('Photos')),
    account: accountPage(context, {
      ...frame,
      appCount: 3,
      recentApps: [
        { clientId: text('a'), name: text('Meeting Room Planner') },
        { clientId: text('b'), name: text('Backup') },
      ],
      moreRecentApps: 39,
      sessions: Array.from({ length: 7 }, (_, at) => ({
        since: 1_795_000_000_000 - at * 86_400_000,
        at: text('Northwind'),
        isThis: at === 0,
      })),
      activity: (Object.keys(context.messages.account.events) as ActivityKind[]).map((kind, at) => ({
        kind,
        name: at === 3 ? null : text('Meeting Room Planner'),
        at: 1_795_000_000_000 - at * 3_600_000,
      })),
      everywhereFormToken: text('token'),
      isOutdated: false,
    }),
    'account-empty': accountPage(context, {
      ...frame,
      ...{ hasPassword: false, appCount: 0, recentApps: [], moreRecentApps: 0, activity: [], isOutdated: true },
      account: { name: null, email: null, at: text('Photos'), homePage: text('https://photos.example/home') },
      sessions: [{ since: 1_795_000_000_000, at: text('Photos'), isThis: true }],
      everywhereFormToken: text('token'),
    }),
    home: homePage(context, { account, hasPassword: true }),
    'home-visitor': homePage(context, { account: null, hasPassword: false }),
    developers: developersPage(context, developers),
    'developers-refused': developersPage(context, { ...developers, clientId: null, isClientIdRefused: true }),
    ...Object.fromEntries(errors),
    'error-wait': errorPage(context, {
      kind: 'too_many_requests',
      requestId: text('01JD6Q8Z5T3XKM'),
      retryAfterSeconds: 601,
    }),
  };
}
