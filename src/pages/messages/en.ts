import { displayName } from '../html/display-name.ts';
import { type Html, html } from '../html/html.ts';
import { isolated, isolatedAddress, isolatedCode } from '../html/isolated-text.ts';
import { Formats } from './formats.ts';

const formats = new Formats('en-GB');

/** "a minute", "5 minutes": a waiting time, rounded up. */
function wait(seconds: number): string {
  const minutes = Math.max(1, Math.ceil(seconds / 60));
  return formats.plural(minutes) === 'one' ? 'a minute' : `${minutes} minutes`;
}

/** "a year", "30 days": a duration within a sentence. */
function span(seconds: number): string {
  return formats
    .duration(seconds)
    .replace(/^1 (?=hour)/, 'an ')
    .replace(/^1 /, 'a ');
}

/** The name of an app; one that was deleted has none. */
function named(app: string | null): Html {
  return app === null ? html`An app` : isolated(app, 60);
}

/** Every text of the pages in English. The other languages have this table's shape. */
export const en = {
  day: (time: number): string => formats.day(time),
  minute: (time: number): string => formats.minute(time),
  second: (time: number): string => formats.second(time),
  ago: (time: number, now: number): string => formats.ago(time, now),
  duration: (seconds: number): string => formats.duration(seconds),

  account: {
    at: (place: string): Html => html`Your account at ${isolated(place)}`,
    greeting: (name: string): Html => html`Hello, ${isolated(name)}`,
    nav: 'Your account',
    backTo: (product: string): Html => html`Back to ${isolated(product, 60)}`,
    home: 'Account',
    password: 'Change your password',
    signedInAs: (who: Html): Html => html`<span class="unseen">Signed in as</span> ${who}`,
    signOut: 'Sign out',
    apps: (count: number): string =>
      count === 0
        ? 'No app can use your account.'
        : formats.plural(count) === 'one'
          ? 'One app can use your account.'
          : `${formats.number(count)} apps can use your account.`,
    recentApps: 'Used or allowed in the last 30 days:',
    seeApps: 'See and remove apps',
    security: 'Where you are signed in',
    session: (since: Html, at: string): Html => html`Since ${since}, with your ${isolated(at, 60)} account`,
    thisBrowser: 'This browser',
    signOutEverywhere: 'Sign out everywhere',
    appsStay: 'Apps you’ve connected stay connected.',
    outdated: {
      heading: 'Nobody was signed out',
      text: 'This page was out of date. If you still want to sign out everywhere, press the button again.',
    },
    activity: 'Recent activity',
    noActivity: 'Nothing happened in the last 90 days.',
    events: {
      signedIn: (): Html => html`You signed in`,
      signedOut: (): Html => html`You signed out`,
      allowed: (app: string | null): Html => html`${named(app)} was allowed to use your account`,
      denied: (app: string | null): Html => html`You denied ${app === null ? 'an app' : isolated(app, 60)} access`,
      removed: (app: string | null): Html => html`${named(app)} lost its access, or some of it`,
      passwordChanged: (): Html => html`Your password was changed`,
      signedOutEverywhere: (): Html => html`You were signed out everywhere`,
      allRemoved: (): Html => html`All apps lost their access`,
    },
  },

  layout: {
    title: (page: string, product: string): string => `${page} – ${displayName(product)}`,
    titleWithProblem: (page: string): string => `Problem: ${page}`,
    home: 'Start page',
    newTab: '(opens another tab)',
    support: 'Get help',
  },

  permissions: {
    identity: 'See who you are',
    fields: { name: 'name', username: 'username', email: 'email', avatar_url: 'picture' },
    list: (fields: readonly string[]): string => `Your ${formats.list(fields)}`,
    effects: { reads: 'Reads', changes: 'Changes', sensitive: 'Sensitive' },
    nobody: 'Only an ID: neither your name nor your address',
    signsIn: 'Signs you in',
    gets: (field: string): string => `Gets your ${field}`,
    sentence: (sentence: string): Html => isolated(sentence, 300),
    scope: (scope: string): Html => html`Use the permission ${isolatedCode(scope)}`,
  },

  appProfile: {
    publisher: (publisher: string): Html => html`by ${isolated(publisher)}`,
    unknownPublisher: 'Publisher not stated',
    checked: (product: string): Html => html`Checked by ${isolated(product)}`,
    unchecked: (product: string): Html => html`Not checked by ${isolated(product)}`,
    documentHost: (host: string): Html => html`Describes itself at ${isolatedAddress(host)}`,
    homepage: 'Website',
    privacy: 'Privacy',
    contact: 'Contact',
  },

  signIn: {
    title: 'Sign in',
    heading: 'Sign in',
    lead: (product: string): Html => html`with your ${isolated(product)} account`,
    leadToApp: (app: string): Html => html`to continue to ${isolated(app)}`,
    leadAgain: (app: string): Html => html`For your security, ${isolated(app)} asks you to sign in again`,
    email: 'Email',
    password: 'Password',
    submit: 'Sign in',
    or: 'or',
    back: (app: string): Html => html`Go back to ${isolated(app)} without signing in`,
    trouble: (help: Html | null): Html => html`Can’t sign in? ${help ?? 'Ask the people who run this service.'}`,
    signInWith: (product: string): Html => html`Sign in with ${isolated(product)}`,
    problems: {
      wrong_credentials: {
        heading: 'That didn’t work',
        text: 'The email and password don’t match an account here. Check both and try again.',
      },
      throttled: {
        heading: 'Too many tries',
        text: (seconds: number): string => `To keep accounts safe, please wait ${wait(seconds)} and try again.`,
      },
      busy: { heading: 'We’re very busy', text: 'Your sign-in didn’t get through. Please try again in a moment.' },
      form_expired: { heading: 'This page was open for too long', text: 'Nothing was lost. Please sign in again.' },
      opened_twice: {
        heading: 'This page was opened twice',
        text: 'Or someone signed in or out in another window. Nothing was lost: please sign in here.',
      },
      no_cookies: {
        heading: 'Your browser blocks our cookies',
        text: 'Sign-in needs cookies. Allow cookies for this site in your browser’s settings, and sign in again.',
      },
      signed_out: {
        heading: 'You were signed out',
        text: 'Nothing was changed. Sign in and try again.',
      },
      pressed_twice: {
        heading: 'Please sign in',
        text: 'If you pressed the button twice, your new password may be set already: sign in with it. If that doesn’t work, sign in with your old password and set the new one again.',
      },
    },
  },

  password: {
    title: 'Change your password',
    heading: 'Change your password',
    lead: (email: string): Html => html`for ${isolated(email)}`,
    current: 'Current password',
    next: 'New password',
    rule: 'At least 8 characters. A few unrelated words are easy to remember and hard to guess.',
    again: 'New password again',
    submit: 'Change password',
    changed: 'Your password was changed. You were signed out everywhere else.',
    others: (apps: string): Html =>
      html`Your connected apps keep their access. You can remove them under <a href="${apps}">Connected apps</a>.`,
    problems: {
      wrong_credentials: {
        heading: 'Your current password is not right',
        text: 'Nothing was changed. Check it and try again.',
      },
      different: {
        heading: 'The two new passwords differ',
        text: 'Nothing was changed. Type the same new password twice.',
      },
      too_short: {
        heading: 'The new password is too short',
        text: 'Use at least 8 characters; 15 or more are better.',
      },
      too_long: { heading: 'The new password is too long', text: 'Use at most 1,000 characters.' },
      nul: {
        heading: 'The new password can’t be used',
        text: 'It contains a character that can’t be typed. Choose another password.',
      },
      common: {
        heading: 'The new password is one of the most common ones',
        text: 'Attackers try it first. Choose one that only you would think of.',
      },
      guessable: {
        heading: 'The new password is too close to a name',
        text: 'Attackers try your name, your address and the name of this service. Choose another.',
      },
      same: {
        heading: 'This is the password that you were given',
        text: 'Someone else knows it. Choose one that only you know.',
      },
      throttled: {
        heading: 'Too many tries',
        text: (seconds: number): string => `To keep accounts safe, please wait ${wait(seconds)} and try again.`,
      },
      busy: { heading: 'We’re very busy', text: 'Please try again in a moment.' },
      form_expired: {
        heading: 'This page was open for too long',
        text: 'Nothing was changed. Please type your password again.',
      },
      opened_twice: {
        heading: 'This page was opened twice',
        text: 'Or you pressed the button twice, or someone signed in or out in another window. Your new password may be set already. If not, type it here.',
      },
      no_cookies: {
        heading: 'Your browser blocks our cookies',
        text: 'Nothing was changed. Allow cookies for this site in your browser’s settings, and try again.',
      },
    },
  },

  invitation: {
    title: 'Choose your password',
    heading: 'Choose your password',
    lead: (email: string, product: string): Html => html`for ${isolated(email)} at ${isolated(product)}`,
    text: 'Only you will know it. This link works once, and a new password signs you out everywhere.',
    submit: 'Set password',
  },

  mustChange: {
    title: 'Choose your own password',
    heading: 'Choose your own password',
    lead: (email: string): Html => html`for ${isolated(email)}`,
    text: 'Someone made your current password for you, so they know it. Choose one that only you know, and you’ll be signed in.',
    submit: 'Set password and sign in',
  },

  pickUp: {
    until: (time: string): string => `This link works once, until ${time} UTC.`,
    withSecret: {
      title: 'Pick up a secret',
      heading: (name: string): Html => html`The secret of ${isolated(name)}`,
      text: 'The button makes the secret and shows it once, to you alone: the person who sent you this link doesn’t know it. Have a safe place ready for it, such as the secret store of your server.',
      submit: 'Make the secret and show it',
      done: 'Your secret',
      doneText: 'Store the secret now: nobody can show it to you again.',
    },
    earlier: 'The earlier secret keeps working until it is retired.',
    withoutSecret: {
      title: 'Pick up the addresses',
      heading: (name: string): Html => html`The addresses of ${isolated(name)}`,
      text: 'It has no secret, because it proves itself in another way. The button shows its ID and the addresses that it needs.',
      submit: 'Show the addresses',
      done: 'Your addresses',
      doneText: 'None of these values is secret.',
    },
    guide: (href: string): Html => html`How to use them: <a href="${href}">the developer guide</a>.`,
    values: {
      clientId: 'Client ID',
      clientSecret: 'Client Secret',
      authorizationUrl: 'Authorization URL',
      accessTokenRequestUrl: 'Access Token Request URL',
      refreshTokenRequestUrl: 'Refresh Token Request URL',
      deviceAuthorizationUrl: 'Device Authorization URL',
      meUrl: 'Current User URL',
      issuer: 'Issuer, for OAuth libraries',
      scopes: 'Scopes, as “scope” takes them',
      redirectUris: 'Registered redirect URIs',
      resourceServerId: 'Resource Server ID',
      resourceServerSecret: 'Resource Server Secret',
      introspectionUrl: 'Introspection URL',
      revocationStreamUrl: 'Revocation Stream URL',
      providerId: 'Provider ID',
      providerSecret: 'Provider Secret',
      signInEndpoint: 'Sign-in Endpoint',
    },
    problems: {
      form_expired: { heading: 'This page was open for too long', text: 'Nothing was made. Press the button again.' },
      opened_twice: {
        heading: 'This page was opened twice',
        text: 'Or someone signed in or out in another window. Nothing was made: press the button again.',
      },
      no_cookies: {
        heading: 'Your browser blocks our cookies',
        text: 'Nothing was made. Allow cookies for this site in your browser’s settings, and press the button again.',
      },
    },
    used: {
      title: 'This link was used already',
      when: (time: string): string => `It was used on ${time} UTC, and a link to pick up a secret works only once.`,
      you: 'Was it you, and is the secret lost? Ask the person who sent you this link for a new one.',
      notYou: 'If it wasn’t you, someone else has what it showed: tell the person who sent you this link at once.',
    },
  },

  passwordSet: {
    title: 'Password set',
    heading: 'Your password is set',
    text: 'Sign in with your email and the new password.',
  },

  consent: {
    title: 'Allow access',
    heading: (app: string, product: string): Html =>
      html`Allow ${isolated(app)} to use your ${isolated(product)} account?`,
    headingMore: (app: string, product: string): Html =>
      html`Allow ${isolated(app)} to do more with your ${isolated(product)} account?`,
    leadMore: 'It already has access to your account, and now asks for more.',
    leadNothingNew:
      'This app already has access to your account. Apps ask again when you connect them once more, for example in another browser or on another device.',
    destination: (host: string): Html => html`Either way, you’ll go on to ${isolatedAddress(host)}`,
    destinationOnThisDevice: (host: string): Html =>
      html`Either way, this goes to a program on this device: ${isolatedAddress(host)}. <strong>Allow it only if you just started it.</strong>`,
    destinationByName: html`The name <bdi class="address" dir="ltr">localhost</bdi> means this device unless its network settings were changed.`,
    account: 'Your account',
    switchAccount: html`Switch <span class="unseen">account</span>`,
    signIn: {
      title: 'Sign in with your account',
      heading: (app: string, product: string): Html =>
        html`Sign in to ${isolated(app)} with your ${isolated(product)} account`,
      effects: 'If you allow it, this app',
      already: 'It already',
      also: 'It can also',
    },
    permissions: 'If you allow it, this app can',
    permissionsMore: 'If you allow it, this app can also',
    permissionsAlready: 'It can already',
    optional: 'Optional: tick what you also want to allow',
    below: (all: number): string => `More below (${all} in all)`,
    device: {
      heading: 'A device is asking',
      text: 'Only continue if you started this yourself, on a device in front of you that shows this code:',
      warning: html`Did someone else give you this code, or a link to this page? <strong>Choose Deny</strong>, or they get into your account.`,
    },
    duration: (max: number): string => `Access even while you’re away, for up to ${span(max)}.`,
    durationOrUnused: (max: number, unused: number): string =>
      `Access even while you’re away, for up to ${span(max)}; ends after ${span(unused)} without use.`,
    takeBack: (apps: string, newTab: Html): Html =>
      html`You can take it back at any time under <a href="${apps}" target="_blank">Connected apps${newTab}</a>.`,
    password: 'The app never sees your password.',
    uncheckedSensitive: (product: string): Html =>
      html`<strong>It asks for something sensitive</strong>, and ${isolated(product)} hasn’t checked who makes it.`,
    allow: 'Allow',
    deny: 'Deny',
    notTaken: {
      expired: {
        heading: 'Please answer once more',
        text: 'This page was open for too long, so your answer didn’t count. Check everything before you choose.',
      },
      elsewhere: {
        heading: 'Please answer once more',
        text: 'Someone signed in after this page was opened, or the page has changed, so your answer didn’t count. Check everything, and the account, before you choose.',
      },
      signed_out: {
        heading: 'Please answer once more',
        text: 'You were signed out before you answered, so your answer didn’t count. Check everything, and the account, before you choose.',
      },
      throttled: {
        heading: 'Too many answers',
        text: (seconds: number): string =>
          `Your account has answered too many requests in a short time, so this answer didn’t count. Please wait ${wait(seconds)} and choose again.`,
      },
    },
    doubt: 'Don’t know this app? Choose Deny, and nothing is shared.',
    doubtAlready: 'Not sure? Choose Deny: it gets nothing more, and keeps what it has.',
  },

  deviceCode: {
    title: 'Connect a device',
    heading: 'Connect a device',
    lead: (product: string): Html =>
      html`Your TV, command line or other device shows a code. Type it here to connect the device to your ${isolated(product)} account.`,
    userCode: 'Code on your device',
    hint: '8 letters; capitals and the dash don’t matter',
    submit: 'Continue',
    warning: 'Only type a code that your own device shows. If someone sent you a code, close this page.',
    problems: {
      unknown_code: {
        heading: 'That code doesn’t work',
        text: 'It’s wrong or has expired. Check it on your device, or start again there to get a new one.',
      },
      answered_just_now: {
        heading: 'This code was answered just now',
        text: 'Press Continue to see the answer.',
      },
      throttled: {
        heading: 'Too many tries',
        text: (seconds: number): string => `Please wait ${wait(seconds)} and try again.`,
      },
    },
  },

  deviceDone: {
    allowed: {
      title: 'Device allowed',
      heading: 'You can go back to your device',
      text: (app: string): Html =>
        html`You allowed ${isolated(app)}. It connects in a moment; until then you can still take it back.`,
    },
    connected: {
      title: 'Device connected',
      heading: 'You can go back to your device',
      text: (app: string): Html => html`${isolated(app)} is connected and continues there by itself.`,
    },
    denied: {
      title: 'Access denied',
      heading: 'Nothing was shared',
      text: (app: string): Html => html`The request from ${isolated(app)} was denied. You can close this page.`,
    },
    takeBack: {
      allowed: (apps: string): Html => html`Under <a href="${apps}">Connected apps</a>, you can also remove it later.`,
      connected: (apps: string): Html =>
        html`Under <a href="${apps}">Connected apps</a>, you can remove it at any time.`,
    },
  },

  connectedApps: {
    title: 'Connected apps',
    heading: 'Connected apps',
    lead: (product: string): Html => html`You allowed these apps to use your ${isolated(product)} account.`,
    effect:
      'When you remove an app, its very next request is refused. It keeps what it copied before. You can always connect it again.',
    removed: {
      app: (app: string): Html =>
        html`${isolated(app)} was removed. Its next request will be refused. To use it again, allow it again in the app.`,
      appButDevices: (app: string): Html =>
        html`${isolated(app)} was removed, except on the devices that are still listed. Its next request from anywhere else will be refused.`,
      device: (app: string): Html =>
        html`${isolated(app)} was removed from that device. The next request from there will be refused.`,
      installation: (app: string): Html =>
        html`${isolated(app)} was removed in one place. The next request from there will be refused.`,
      waiting: (app: string): Html =>
        html`The access that was waiting for ${isolated(app)} was removed. The app can’t fetch it any more.`,
    },
    outdated: {
      heading: 'Nothing was removed yet',
      text: 'This page was out of date. If you still want to remove an app, do it now.',
    },
    permissions: (count: number): string => (formats.plural(count) === 'one' ? '1 permission' : `${count} permissions`),
    sensitive: (count: number): string => `${count} sensitive`,
    places: (count: number): string => `${formats.number(count)} connections`,
    morePermissions: (count: number): string => `${count} more`,
    lines: 'Connected',
    ofThisLine: 'What it can do here',
    showApp: (app: string): Html => html`Show all about ${isolated(app, 60)}`,
    allApps: 'All connected apps',
    search: {
      label: 'Find an app by name',
      submit: 'Find',
      order: 'Apps with sensitive permissions come first, then the last used ones.',
      all: 'Show all',
      nothing: (query: string): Html => html`No connected app has “${isolated(query)}” in its name.`,
    },
    onDevice: 'On a device',
    waiting: 'Waiting for the app',
    can: 'It can',
    canOnceFetched: 'Once the app fetches this, it can',
    since: 'Connected',
    allowed: 'Allowed',
    lastUsed: 'Last used',
    neverUsed: 'Not used yet',
    ends: (day: Html): Html => html`Ends on ${day}`,
    endsOrUnused: (day: Html, unused: Html): Html => html`Ends on ${day}, or on ${unused} if it isn’t used until then`,
    notFetched: 'Expires if the app doesn’t fetch it',
    remove: {
      all: (app: string, lines: number): Html =>
        html`Remove all ${formats.number(lines)} <span class="unseen">connections of ${isolated(app)}</span>`,
      app: (app: string): Html => html`Remove <span class="unseen">${isolated(app)}</span>`,
      device: (app: string, since: string): Html =>
        html`Remove <span class="unseen">${isolated(app)} from the device connected ${since}</span>`,
      installation: (app: string, since: string): Html =>
        html`Remove <span class="unseen">${isolated(app)} where it was connected ${since}</span>`,
      waiting: (app: string, since: string): Html =>
        html`Remove <span class="unseen">the access allowed ${since} that waits for ${isolated(app)}</span>`,
    },
    removedAll: 'All apps were removed. Their next requests will be refused.',
    removeAll: {
      open: 'Remove all apps …',
      question:
        'Everything listed here loses access to your account at once, on devices as well. You can connect each app again later.',
      submit: 'Yes, remove all apps',
    },
    pages: {
      label: 'Pages',
      first: 'First page',
      next: 'Next page',
      shown: (first: number, last: number, total: number): string =>
        `${formats.number(first)}–${formats.number(last)} of ${formats.number(total)}`,
    },
    timeZone: 'Dates and times are in UTC.',
    empty: {
      heading: 'No connected apps',
      text: 'When you allow an app to use your account, you’ll find it here and can remove it at any time.',
    },
  },

  signOut: {
    title: 'Sign out',
    heading: 'Sign out?',
    text: (product: string): Html => html`You’ll be signed out of ${isolated(product)} in this browser.`,
    apps: 'Apps you’ve connected stay connected.',
    elsewhere: (product: string): Html =>
      html`You stay signed in at ${isolated(product)}, where you signed in. Sign out there as well if others use this browser.`,
    submit: 'Sign out',
    stay: 'Stay signed in',
  },

  signedOut: {
    title: 'Signed out',
    heading: 'You’re signed out',
    text: 'If you share this computer, close the browser window too.',
    signIn: 'Sign in again',
  },

  home: {
    title: 'Home',
    heading: 'Your account, your choice',
    greeting: (name: string): Html => html`Hello, ${isolated(name)}`,
    text: (product: string): Html =>
      html`Here you see which apps may use your ${isolated(product)} account, and remove them whenever you like.`,
    signIn: 'Sign in',
    connectedApps: 'Connected apps',
    password: 'Change your password',
    signOut: 'Sign out',
    developers: (developers: string): Html =>
      html`Building an app? <a href="${developers}">Read the developer guide</a>.`,
  },

  developers: {
    title: 'For developers',
    heading: 'Connect your app',
    lead: (product: string): Html =>
      html`Let people use their ${isolated(product)} account in your app. They press Allow, and your app gets a pair of tokens; it never sees a password.`,
    contents: 'On this page',
    copy: 'Copy',
    copied: 'Copied',
    example: (call: string): string => `Example: ${call}`,
    answer: (call: string): string => `Answer: ${call}`,
    ways: {
      library:
        'The usual way. Your library takes one address and finds the rest. Also for public apps, and for devices without a browser.',
      calls:
        'For apps that write the requests themselves: four plain HTTP calls, with the five values that you were given.',
      same: 'Tokens, lifetimes and limits are the same either way, and so are the pages that people see.',
    },
    programs: {
      alsoAs: (markdown: string): Html => html`This page is also there <a href="${markdown}">as Markdown</a>.`,
      service: (product: string): Html =>
        html`The OAuth 2.0 authorization service of ${isolated(product)}, for apps that act for its users.`,
      documents: 'Documents',
      markdown: 'how to connect an app: addresses, permissions, examples, lifetimes, errors and limits',
      resource: 'Metadata of the API',
    },
    fill: {
      label: 'Your Client ID',
      submit: 'Fill in',
      hint: 'The examples on this page then hold it. Nothing is looked up or stored.',
      refused: {
        heading: 'That isn’t a Client ID.',
        text: 'It has at most 255 characters: letters, digits and . _ ~ : / ? & = @ % + -. Copy it exactly as you were given it.',
      },
    },
    need: {
      heading: 'What you need',
      text: 'An app is registered by the people who run this service; there is no sign-up by API. Tell them your app’s name, its redirect URIs and the permissions it needs. You’ll get five values:',
      clientId: 'Client ID',
      clientIdText: 'Names your app. Not a secret.',
      clientSecret: 'Client Secret',
      clientSecretText:
        'Proves that a request comes from your server. Keep it there: never in a browser, a mobile app or a repository. A public app, which runs on people’s own devices, has none.',
      pickUp: html`<strong>Did you get a link to pick up a secret?</strong> Open it where you can store the secret, and press the button: the secret is made then, and shown once with these values. The link works once, within 72 hours. If it was used and not by you, tell the person who sent it at once.`,
    },
    scopes: {
      heading: 'Permissions',
      text: html`Ask for them by name in <code>scope</code>, separated by spaces. Your app only gets permissions that it’s registered for; without <code>scope</code> it asks for all of them. People can decline optional ones: <code>scope</code> in the token answer, or in step 4, lists what they allowed.`,
    },
    library: {
      heading: 'With an OAuth library',
      text: html`A library needs the issuer, your Client ID and your Client Secret. It reads everything else from the metadata; if yours can’t, give it the addresses below.`,
      setUpLabel: 'Values for the programs',
      programs:
        'Each program is complete. It prints the address to open, reads the address that the browser came back to, and prints whose account it is.',
      runLabel: (name: string): string => `To run it: ${name}`,
      signIn: html`<strong>Your app can sign users in</strong> (OpenID Connect): add <code>openid</code>, <code>profile</code> and <code>email</code> to <code>scope</code>, and send a <code>nonce</code>. The answer to the code has an <code>id_token</code>. Key your users on its <code>iss</code> and <code>sub</code>.`,
      rules: {
        authentication: html`<strong>Your server authenticates</strong> by <code>client_secret_basic</code> or <code>client_secret_post</code>, or by <code>private_key_jwt</code> with its own key.`,
        publicApps: html`<strong>A public app</strong> has no secret and must use PKCE: authentication <code>none</code>.`,
        pkce: html`<strong>PKCE</strong> with <code>S256</code> protects every app. With it, you can omit <code>state</code>.`,
        issuer: html`<strong>Each return</strong> to your app carries <code>iss</code>. Your library compares it with the issuer.`,
        resource: html`<strong>Tokens for one API only?</strong> Name that API in <code>resource</code>.`,
        device: (device: string): Html =>
          html`<strong>A device without a browser</strong> asks the device authorization address for a code, which people type at <code>${device}</code>.`,
        revocation: html`<strong>Revoking</strong> either token ends all access from the same Allow.`,
        fastify: html`<strong>The plugin <code>@fastify/oauth2</code></strong> needs a <code>scope</code>, if only <code>[]</code>. Without it, the plugin invents a name and gets <code>invalid_scope</code>.`,
      },
      addresses: {
        heading: 'Addresses',
        issuer: 'Issuer',
        metadata: 'Metadata',
        authorization: 'Authorization',
        token: 'Tokens',
        revocation: 'Revocation',
        pushedAuthorizationRequest: 'Pushed requests',
        deviceAuthorization: 'Device authorization',
        openApi: 'OpenAPI description',
      },
    },
    verify: {
      heading: 'Checking tokens in your API',
      text: html`An API that receives these tokens asks this service whether they’re valid. It has its own ID and secret, from the people who run this service. They also have the package <code>@valetkey/verify</code> for Node.js, which isn’t in a public registry:`,
      label: 'Example: an API with @valetkey/verify',
      byHand: 'In any other language, ask by HTTP:',
      introspectionLabel: 'Example: introspection',
      answerLabel: 'Answer: introspection',
      keep: html`Accept a token only if the answer says <code>"active": true</code>. Ask each time, or cache an answer while you listen to revocations, which arrive within a quarter of a second. The package does that.`,
      introspection: 'Introspection',
      revocationStream: 'Revocations',
    },
    calls: {
      heading: 'With four calls of your own',
      text: 'Four plain HTTP requests are enough, with the five values from above.',
      authorizationUrl: 'Authorization URL',
      accessTokenRequestUrl: 'Access Token Request URL',
      refreshTokenRequestUrl: 'Refresh Token Request URL',
      setUp: 'The examples run in any shell once these are filled in:',
      setUpLabel: 'Values for the examples',
      go: html`<strong>In Go</strong>, set <code>AuthStyle: oauth2.AuthStyleInParams</code> in the <code>Endpoint</code> of <code>golang.org/x/oauth2</code>, since step 3 takes your Client ID and Client Secret only in the body. For step 3, use a second <code>Endpoint</code> whose <code>TokenURL</code> is the Refresh Token Request URL.`,
    },
    authorize: {
      name: 'Ask for permission',
      heading: '1. Ask for permission',
      text: html`Send the person’s browser to the Authorization URL. <code>redirect_uri</code> must match a registered one exactly. Make a new, random <code>state</code> for every visit and keep it in the person’s session.`,
      address: 'This is the address to open, with your own values in it:',
      addressLabel: 'Address to open',
      shell: 'In a shell, this makes a state and prints the address:',
      back: html`After Allow, the browser comes back to your <code>redirect_uri</code> with a <code>code</code> and your <code>state</code>. Compare the <code>state</code> with the one you kept, and stop if it differs. After Deny you get <code>error=access_denied</code> instead of a code.`,
      byHand: (lifetime: string): Html =>
        html`<strong>By hand,</strong> nothing has to listen at your <code>redirect_uri</code>: the browser shows an error, and the code is in its address bar, after <code>code=</code> and before the next <code>&amp;</code>. Copy it within ${lifetime}.`,
      options: html`Optional: <code>scope</code>, and PKCE: send <code>code_challenge</code> and <code>code_challenge_method=S256</code> here, and <code>code_verifier</code> in the next step.`,
    },
    exchange: {
      name: 'Get tokens',
      heading: '2. Get tokens',
      text: (lifetime: string): Html =>
        html`From your server, exchange the code at once: it lasts ${lifetime} and works once. A second use ends everything issued from it. Send a form or JSON, here and in step 3.`,
    },
    refresh: {
      name: 'Get new tokens',
      heading: '3. Get new tokens',
      text: html`When the access token expires, exchange the refresh token for a new pair. Save both tokens of the answer: the refresh token changes each time.`,
    },
    me: {
      name: 'Check a token',
      heading: '4. Check a token',
      text: html`Send the access token in the header of every call to the API. This call returns whose account it is, what is allowed and when this token expires. Unknown values are <code>null</code>.`,
    },
    safely: {
      heading: 'Refreshing safely',
      retry: html`<strong>Lost the answer?</strong> Send the same refresh token again. You’ll get the same new pair, as long as that pair is unused and the retry window is open.`,
      overlap: html`<strong>Two workers at once?</strong> Both get the same new pair, during the short overlap after a refresh.`,
      reuse: html`<strong>Any older refresh token</strong> counts as stolen: the access ends at once, and the person has to allow your app again.`,
      restart: html`<strong>On <code>invalid_grant</code></strong>, don’t repeat the request. The person may have removed your app: ask for permission again.`,
      accessToken: html`<strong>The earlier access token</strong> keeps working until it expires, so calls under way don’t fail.`,
    },
    lifetimes: {
      heading: 'How long things last',
      code: html`Code`,
      accessToken: 'Access token',
      refreshTokenIdle: 'Refresh token, unused',
      refreshTokenMax: 'All access from one Allow',
      overlap: 'Overlap after a refresh',
      retryWindow: 'Retry window after a refresh',
      note: 'Your app may have other values for the last two. Revocation doesn’t wait for any of these: the next call is refused.',
    },
    errors: {
      heading: 'When something goes wrong',
      onReturn: html`In the address that the browser comes back to, as <code>error</code>`,
      onTokens: html`From requests for tokens, as JSON with <code>error</code> and <code>error_description</code>`,
      onMe: html`From step 4, as JSON with <code>error.code</code> and <code>error.message</code>`,
      reasons: {
        heading: 'Why a code or refresh token is refused',
        text: html`If your app proved its secret, and the code or refresh token is its own, <code>error_description</code> gives one of these reasons. On the standard face, <code>error_uri</code> leads here. A public app only gets <code>invalid_grant</code>. Long after the end, the reason is forgotten and the text is general.`,
        kinds: {
          used: {
            term: 'Used already',
            text: 'The description says when. Often a page that was loaded twice, a request that was repeated, or two workers with different refresh tokens. Keep the newest refresh token in one place.',
          },
          expired: {
            term: 'Expired',
            text: 'The description says how long ago. Exchange a code as soon as it arrives. If a refresh token has expired, ask for permission again.',
          },
          'redirect-uri': {
            term: html`Another <code>redirect_uri</code>`,
            text: 'Send the one that was in the authorization request, character by character: also its port, its final slash and its query.',
          },
          'code-verifier': {
            term: html`Another <code>code_verifier</code>`,
            text: html`It doesn’t match the <code>code_challenge</code>. Keep it in the person’s session, from the first step to the second, and don’t make a new one in between.`,
          },
          ended: {
            term: 'Ended',
            text: 'The access was removed, or a token counts as stolen. Ask for permission again when the person next uses your app.',
          },
          paused: {
            term: 'Paused',
            text: 'Nothing has ended, and the same token will work again later. Don’t ask the person again; ask the people who run this service.',
          },
        },
      },
      access_denied:
        'The person chose Deny. Continue without access. A device gets this in answer to its next token request.',
      authorization_invalid_request: html`A parameter is missing, malformed or sent twice. Often: no <code>state</code>.`,
      invalid_scope: html`A scope that isn’t registered for your app; the description names it. Often <code>openid</code> or <code>offline_access</code>, which a library adds by itself: remove them.`,
      invalid_target: html`The <code>resource</code> isn’t known here, or there is more than one.`,
      unsupported_response_type: html`<code>response_type</code> must be <code>code</code>.`,
      interaction: html`Only with <code>prompt=none</code>: the person would have to sign in or answer.`,
      invalid_request: html`A parameter is missing, malformed or sent twice; the description says which. 413: more than 64 KiB. 415: neither a form nor JSON.`,
      invalid_client:
        'Client ID or Client Secret is wrong or retired, or your app is paused. Don’t repeat; check them.',
      invalid_grant:
        'The code or refresh token is wrong, expired, used, revoked or another app’s, or the redirect URI differs. The description may say why.',
      unauthorized_client: 'Your app isn’t registered for this kind of request. Ask the people who run this service.',
      unsupported_grant_type: html`This address doesn’t support this <code>grant_type</code>.`,
      pending: html`Only for devices: nobody has decided yet. Ask again after <code>interval</code> seconds, and 5 more after each <code>slow_down</code>.`,
      expired_token: 'Only for devices: the code has expired. Get a new one.',
      temporarily_unavailable: html`Too many requests (429) or a short interruption (503). Wait as many seconds as <code>Retry-After</code> says and send it again. A client assertion is good once: make a new one.`,
      missing_token: html`No <code>Authorization: Bearer …</code> header.`,
      invalid_token:
        'The access token is unknown, expired or revoked. Refresh once; if that fails, ask for permission again.',
      page: 'With an unknown Client ID or a redirect URI that isn’t registered, the browser never comes back: the person sees a page that says so.',
    },
    limits: {
      heading: 'Rate limits',
      text: html`A request over a limit is refused with <code>RateLimit</code> and <code>Retry-After</code> headers, in seconds. Successful token requests are not counted. Passwords and device codes are counted for whole networks too: an IPv6 /56 has 4 times the limit of an address, an IPv6 /48 and an IPv4 /24 have 32 times.`,
      kinds: {
        authorization: 'Visits to the Authorization URL, from one address',
        public_pages: 'Other pages and documents, from one address',
        client_authentication: 'Wrong client credentials, for one app from one address',
        sign_in_account: 'Wrong passwords, for one account from one address',
        sign_in_address: 'Wrong passwords, from one address',
        device_code: 'Wrong device codes, from one account or one address',
      },
      rate: (count: number, seconds: number): string => `${formats.number(count)} in ${formats.duration(seconds)}`,
    },
    help: 'Stuck?',
  },

  errors: {
    goHome: 'Go to the start page',
    developers: 'For developers',
    developersPage: (href: string): Html => html`All addresses and errors: <a href="${href}">the developer guide</a>.`,
    meant: (address: Html): Html => html`You may want ${address}.`,
    received: 'We received',
    requestId: 'Request',
    quote: 'If you ask for help, please mention this number.',
    kinds: {
      missing_client_id: {
        heading: 'Which app is it?',
        text: 'An app sent you here, but its address doesn’t say which app it is.',
        now: 'Nothing new was shared. Close this page, or go back to the app and tell its makers.',
        developer: html`<code>client_id</code> is missing, empty or sent twice.`,
      },
      unknown_client: {
        heading: 'We don’t know this app',
        text: 'An app sent you here, but it isn’t registered with us, or no longer is.',
        now: 'Nothing new was shared. Close this page, or go back to the app and tell its makers.',
        developer: html`No client is registered under this <code>client_id</code>.`,
      },
      unadmitted_client: {
        heading: 'We don’t know this app',
        text: 'The app that sent you here describes itself at the address below. It isn’t admitted here.',
        now: 'Nothing new was shared. If you want to use the app, ask the people who run this service: they can admit it.',
        developer: html`No client is registered under this <code>client_id</code>, and we never fetch an unregistered address. The operator’s command is <code>client register --from</code>.`,
      },
      missing_redirect_uri: {
        heading: 'We stopped, to be safe',
        text: 'The app that sent you here didn’t say which address to send you on to.',
        now: 'Nothing new was shared. Close this page, or go back to the app and tell its makers.',
        developer: html`<code>redirect_uri</code> is missing, empty or sent twice. Send a registered one.`,
      },
      bad_redirect_uri: {
        heading: 'We stopped, to be safe',
        text: 'The app that sent you here asked us to send you on to an address that isn’t registered for it.',
        now: 'Nothing new was shared. Close this page, or go back to the app and tell its makers.',
        developer: html`<code>redirect_uri</code> must equal a registered one, character by character. Usual mistakes: <code>localhost</code> in place of <code>127.0.0.1</code>, a slash at the end, or the port.`,
      },
      bad_request_uri: {
        heading: 'This request can’t be used any more',
        text: 'The request of the app that sent you here is unknown to us or has expired.',
        now: 'Nothing new was shared. Go back to the app and start again there.',
        developer: html`<code>request_uri</code> is unknown, expired or another client’s. Push a new request.`,
      },
      client_paused: {
        heading: 'This app is paused',
        text: 'The app that sent you here can’t connect to accounts at the moment.',
        now: 'Nothing new was shared. Please try again later, or ask the app’s makers.',
        developer: html`The operator has paused this client.`,
      },
      dead_hand_over: {
        heading: 'This link doesn’t work any more',
        text: 'A link to pick up a secret works once, for 72 hours, and only until a newer link is made or the registration is paused or gets another secret.',
        now: 'Ask the person who sent you this link for a new one.',
        developer: html`The <code>token</code> in the address is expired, replaced, ended or unknown.`,
      },
      two_secrets: {
        heading: 'There are two secrets already',
        text: 'Only two secrets can be valid at the same time, so this link can’t make another one now.',
        now: 'Ask the person who sent you this link to retire one of the secrets, and for a new link.',
        developer: 'Nothing was made.',
      },
      dead_invitation: {
        heading: 'This link doesn’t work any more',
        text: 'A link to set a password works once, for 24 hours, and only until a newer link is made.',
        now: 'Did you choose a password already? Then sign in with it. If that doesn’t work, ask the person who sent you this link for a new one.',
        developer: html`The <code>token</code> in the address is used, expired, replaced or unknown.`,
      },
      plain_http: {
        heading: 'This page needs a secure connection',
        text: 'It was opened over plain http, where others could read what you send.',
        now: 'Open the same address again with https:// in front.',
        developer: html`The proxy’s <code>X-Forwarded-Proto</code> says <code>http</code>.`,
      },
      bad_request: {
        heading: 'Something is wrong with this address',
        text: 'We couldn’t understand the request.',
        now: 'Go back to where you came from and try once more.',
        developer: html`A parameter is missing, malformed or sent more than once.`,
      },
      not_found: {
        heading: 'There’s nothing here',
        text: 'This page doesn’t exist, or has moved.',
        now: 'Check the address, or go to the start page.',
        developer: html`This service has nothing at this path.`,
      },
      method_not_allowed: {
        heading: 'This page can’t be used that way',
        text: 'The address exists, but not for this kind of request.',
        now: 'Go back to where you came from and try once more.',
        developer: html`The header <code>Allow</code> of this answer lists the methods.`,
      },
      form_refused: {
        heading: 'We didn’t accept this form',
        text: 'It didn’t come from one of our own pages, or it belonged to someone else’s visit.',
        now: 'Nothing was changed. Start again from the app or page you were using.',
        developer: html`Forms must be posted from the page that showed them, in the same session, with cookies.`,
      },
      not_a_window: {
        heading: 'This page only opens in its own window',
        text: 'A script, a frame or a service worker asked for it, and could read it or press its buttons in your place.',
        now: 'Nothing was changed. Hold Shift and load the page again, or start again from the app or page you were using.',
        developer: html`Link to our pages: only they may send their forms. A service worker must not handle our addresses.`,
      },
      sign_in_dead: {
        heading: 'This sign-in can’t be finished here',
        text: 'It was finished before, took too long, or was begun in another browser.',
        now: 'Nothing was shared. Begin again in this browser: go back to the app or page you came from.',
        developer: html`A ticket works for a minute, in the browser that began the sign-in and kept its cookies.`,
      },
      sign_in_disabled: {
        heading: 'You can’t sign in at the moment',
        text: 'Your account can’t be used here.',
        now: 'Ask the people who run this service why.',
        developer: html`The account is disabled, or must sign in another way.`,
      },
      sign_in_too_old: {
        heading: 'Please sign in again',
        text: 'The app that sent you here asks for a fresh sign-in, but you signed in too long ago.',
        now: 'Sign out of the product you came from, sign in there again, and go back to the app.',
        developer: html`<code>auth_time</code> is older than <code>prompt=login</code> or <code>max_age</code> allows.`,
      },
      sign_in_denied: {
        heading: 'You didn’t sign in',
        text: 'You need to be signed in to see this page.',
        now: 'Nothing was shared. Go back to where you came from, or to the start page.',
        developer: html`The identity provider said <code>access_denied</code>.`,
      },
      too_many_requests: {
        heading: 'That was a lot at once',
        text: 'There were too many requests from your network in a short time.',
        now: 'Please wait a moment and try again.',
        developer: html`The header <code>Retry-After</code> says how many seconds to wait.`,
      },
      too_large: {
        heading: 'That was too much to read',
        text: 'You sent more than we accept.',
        now: 'Nothing was changed. Go back and send less.',
        developer: html`A request body has a limit of 64 KiB.`,
      },
      unavailable: {
        heading: 'We’ll be right back',
        text: 'The service can’t answer at the moment.',
        now: 'Nothing was changed. Please try again in a moment.',
        developer: html`Temporary. Send the same request again.`,
      },
      internal: {
        heading: 'Something went wrong on our side',
        text: 'This is our mistake, not yours.',
        now: 'Please try again. If it keeps happening, tell us.',
        developer: html`The service’s log has the details under this request’s number.`,
      },
    },
    waitAndRetry: (seconds: number): string => `Please wait ${wait(seconds)} and try again.`,
  },
};

/** The shape of a language's table of texts. */
export type Messages = typeof en;
