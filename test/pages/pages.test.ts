import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AppProfile } from '../../src/pages/consent/app-profile.ts';
import { type ConsentDestination, consentPage } from '../../src/pages/consent/consent-page.ts';
import { deviceCodePage, deviceDonePage } from '../../src/pages/consent/device-pages.ts';
import type { Permission, PersonSeen } from '../../src/pages/consent/permission-list.ts';
import { languages } from '../../src/pages/messages/messages.ts';
import { signInPage } from '../../src/pages/sign-in/sign-in-page.ts';
import { sampleBrand, sampleContext, samplePages } from './sample-pages.ts';

const payloads = [
  '"><script>alert(1)</script>',
  "' autofocus onfocus=alert(1) x='",
  '</title><script>alert(1)</script>',
  '</textarea></style><img src=x onerror=alert(1)>',
  '$'.concat('{7*7}'),
  '{{7*7}}',
  'javascript:alert(1)',
  '<!--',
  '&lt;script&gt;',
];

/** The tags of a page with their attributes, and no text: what could do anything. */
function skeleton(page: string): string[] {
  return Array.from(page.matchAll(/<[^>]*>/g), ([tag]) => tag.replace(/="[^"]*"/g, '=""'));
}

for (const payload of payloads) {
  test(`${payload} in every text of every page stays text`, () => {
    const brand = { ...sampleBrand, productName: payload, supportAddress: payload };
    const harmless = { ...brand, productName: 'x', supportAddress: null };
    const pages = samplePages(sampleContext('en', brand), () => payload);
    const expected = samplePages(sampleContext('en', harmless), () => 'x');
    for (const [name, page] of Object.entries(pages)) {
      // The same tags and attributes as with a harmless text, so nothing was opened, closed or added.
      assert.deepEqual(skeleton(String(page)), skeleton(String(expected[name])), name);
      assert.doesNotMatch(String(page), /(?:href|src)="javascript:/i, name);
      assert.doesNotMatch(String(page), /\b49\b/, name);
    }
  });
}

for (const language of languages) {
  test(`every page in ${language} is whole, and holds no script of its own, no inline style and no way out`, () => {
    for (const [name, page] of Object.entries(samplePages(sampleContext(language)))) {
      const text = String(page);
      assert.ok(
        text.startsWith(`<!doctype html>\n<html lang="${language}" dir="${language === 'ar' ? 'rtl' : 'ltr'}">`),
        name,
      );
      assert.equal(text.match(/<h1>/g)?.length, 1, name);
      assert.equal(text.match(/<main>/g)?.length, 1, name);
      assert.match(text, /<title>[^<]+ – Northwind<\/title>/, name);
      assert.match(text, /<meta name="robots" content="noindex">/, name);
      const scripts = text.match(/<script[^>]*>/g) ?? [];
      // Pages with values to copy have one, from this site; their policy lets no other run.
      assert.deepEqual(
        scripts.map((script) =>
          /^<script src="\/assets\/copy-[0-9a-f]+\.js" data-copy="[^"]+" data-copied="[^"]+" defer>$/.test(script),
        ),
        /^(developers|picked-up)/.test(name) ? [true] : [],
        name,
      );
      assert.doesNotMatch(text, /<style|\sstyle=|\son[a-z]+=|undefined|\[object|NaN/i, name);
      for (const [, href] of text.matchAll(/<a [^>]*href="([^"]*)"/g)) {
        assert.match(
          href ?? '',
          /^(?:\/[a-z-]|\/$|#[a-z]|mailto:(?:help@northwind|hi@planner)\.example$|https:\/\/planner\.example\/(?:privacy)?$|https:\/\/photos\.example\/home$|https:\/\/planner\.example\/cb\?error=access_denied&)/,
          name,
        );
      }
      for (const [form] of text.matchAll(/<form[\s\S]*?<\/form>/g)) {
        // Those that change nothing lead to the page that asks, find an app, and fill in examples.
        if (/^<form method="get" action="\/(?:device|account\/apps|developers)"/.test(form)) continue;
        assert.match(form, /^<form method="post" action="\/[^"]*"/, name);
        assert.match(form, /<input type="hidden" name="form_token" value="[^"]+">/, name);
      }
    }
  });
}

test('the support address is a link only if it is an email or https address', () => {
  const footer = (supportAddress: string | null) => {
    const page = signInPage(sampleContext('en', { ...sampleBrand, supportAddress }), signIn);
    return /<a href="([^"]*)"[^>]*>Get help/.exec(String(page))?.[1];
  };
  assert.equal(footer('help@northwind.example'), 'mailto:help@northwind.example');
  assert.equal(footer('https://northwind.example/help'), 'https://northwind.example/help');
  for (const bad of [
    null,
    '',
    'javascript:alert(1)',
    'http://northwind.example',
    'a@b?subject=x',
    'data:text/html,x',
    'https://a b',
  ]) {
    assert.equal(footer(bad), undefined);
  }
});

test('the way to help stands once on each page', () => {
  for (const [name, page] of Object.entries(samplePages(sampleContext('en'))))
    assert.equal(String(page).match(/<a [^>]*>Get help/g)?.length, 1, name);
  const elsewhere = signInPage(sampleContext('en'), { ...signIn, hasPassword: false, providers: [] });
  assert.match(String(elsewhere), /<footer.*Get help/, 'at the foot where the page has no line of its own for it');
});

const signIn = {
  hasPassword: true,
  providers: [],
  formToken: 't',
  continueTo: null,
  email: '',
  problem: null,
  appName: null,
  backToApp: null,
};

test('a problem on the sign-in page is announced, named in the title and tied to the fields', () => {
  const page = String(
    signInPage(sampleContext('en'), { ...signIn, email: 'a@b', problem: { kind: 'wrong_credentials' } }),
  );
  assert.match(page, /<title>Problem: Sign in – Northwind<\/title>/);
  assert.match(page, /role="alert" id="problem"/);
  assert.equal(page.match(/aria-describedby="problem"/g)?.length, 2);
  assert.equal(page.match(/aria-invalid="true"/g)?.length, 2);
  assert.doesNotMatch(String(signInPage(sampleContext('en'), signIn)), /alert|aria-invalid|name="continue"/);
});

test('OpenID Connect Core §3.1.2.1: who has to sign in again is told which app asks for it', () => {
  const page = String(signInPage(sampleContext('en'), { ...signIn, appName: 'Planner', isAgain: true }));
  assert.ok(textOf(page).includes('For your security, Planner asks you to sign in again'));
});

const profile: AppProfile = {
  publisher: 'Planner Ltd',
  homepage: 'https://planner.example/',
  privacyPage: 'https://planner.example/privacy',
  contact: 'hi@planner.example',
  isChecked: false,
  documentHost: null,
};
const nobody: AppProfile = {
  ...{ publisher: null, homepage: null, privacyPage: null, contact: null, isChecked: false },
  documentHost: null,
};

const consent = {
  appName: 'Planner',
  profile: nobody,
  person: { fields: ['name', 'email'], signsIn: false, isNew: false } as PersonSeen,
  account: { name: 'Ada', email: 'ada@northwind.example', at: 'Northwind', homePage: null },
  hasAccessAlready: false,
  permissions: [] as Permission[],
  accessDuration: { max: 31_536_000, unused: 2_592_000 },
  notTaken: null,
  action: '/auth/oauth2/authorize?client_id=a',
  formToken: 't',
  switchAccount: { continueTo: '/auth/oauth2/authorize?client_id=a', formToken: 'u' },
};

const planner: ConsentDestination = { redirectHost: 'planner.example' };

function consentMarkup(change: Partial<typeof consent>, destination = planner): string {
  return String(consentPage(sampleContext('en'), { ...consent, ...destination, ...change }));
}

/** What a page says, without its markup. */
function textOf(page: string): string {
  return page.replace(/<[^>]*>/g, '');
}

/** What the consent page says. */
function said(change: Partial<typeof consent>, destination?: ConsentDestination): string {
  return textOf(consentMarkup(change, destination));
}

test('draft-ietf-oauth-client-id-metadata-document §8.1: the consent page names the app, the account, the host, what it means and how to take it back', () => {
  for (const part of [
    'Allow Planner to use your Northwind account?',
    'ada@northwind.example',
    'go on to planner.example',
    'See who you are',
    'Connected apps',
  ]) {
    assert.ok(said({}).includes(part), part);
  }
  const page = consentMarkup({});
  assert.match(page, /<button class="primary" name="decision" value="allow">Allow<\/button>/);
  assert.match(page, /<button class="secondary" name="decision" value="deny">Deny<\/button>/);
});

test('draft-ietf-oauth-client-id-metadata-document §8.5: the consent page shows the host of the document, as text', () => {
  const page = consentMarkup({ profile: { ...nobody, documentHost: 'agent.example:8443' } });
  assert.match(
    textOf(page),
    /Publisher not stated\s+Not checked by Northwind\s+Describes itself at agent\.example:8443\s/,
  );
  assert.doesNotMatch(page, /href="[^"]*agent\.example/);
  const hostile = consentMarkup({ profile: { ...nobody, documentHost: '<b>\u202eagent' } });
  assert.ok(hostile.includes('&lt;b&gt;agent') && !hostile.includes('\u202e'));
  assert.doesNotMatch(said({}), /Describes itself/);
});

test('draft-ietf-oauth-client-id-metadata-document §9.2: the consent page says who makes the app, whether that was checked, and where to read more', () => {
  const checked = { ...profile, isChecked: true };
  assert.match(said({ profile: checked }), /by Planner Ltd\s+Checked by Northwind\s+Website.*Privacy.*Contact/);
  assert.match(said({ profile }), /by Planner Ltd\s+Not checked by Northwind\s/);
  assert.match(said({}), /Publisher not stated/);
  assert.doesNotMatch(said({}), /Website|Privacy|Contact/);
  const page = consentMarkup({ profile });
  for (const href of ['https://planner.example/', 'https://planner.example/privacy'])
    assert.ok(page.includes(`<a href="${href}" target="_blank" rel="noopener noreferrer">`), href);
  assert.ok(page.includes('<a href="mailto:hi@planner.example">Contact</a>'), 'an email address opens no tab');
  assert.doesNotMatch(consentMarkup({ profile: { ...profile, homepage: 'javascript:alert(1)' } }), /javascript/);
});

test('what permissions do stands beside each if the operator said it of all, and else beside the sensitive ones alone', () => {
  const permissions: Permission[] = [
    { name: 'a', sentence: 'Read mail', effect: 'reads' },
    { name: 'b', sentence: 'Sort mail', effect: 'changes' },
    { name: 'c', sentence: 'Delete mail', effect: 'sensitive', optional: true },
    { name: 'd', sentence: 'Plain' },
  ];
  assert.match(said({ permissions }), /who you areYour.*Read mail\s+Sort mail\s+Plain\s+.*Delete mail Sensitive/s);
  assert.match(
    said({ permissions: permissions.slice(0, 3) }),
    /who you are Reads.*Read mail Reads\s+Sort mail Changes\s+.*Delete mail Sensitive/s,
  );
  const all = permissions.map((each) => ({ ...each, optional: false }));
  assert.match(said({ permissions: all }), /who you are.*Delete mail Sensitive\s+Read mail\s+Sort mail\s+Plain/s);
});

test('a sensitive permission has a mark of its own in place of the tick', () => {
  const mark = (effect: 'reads' | 'sensitive') =>
    consentMarkup({ permissions: [{ name: 'a', sentence: 'Delete mail', effect }] })
      .split('<li')
      .find((line) => line.includes('Delete mail'))
      ?.match(/<svg.*?<\/svg>/s)?.[0];
  assert.ok(consentMarkup({}).includes(mark('reads') ?? assert.fail()), 'the tick of harmless lines');
  assert.notEqual(mark('sensitive'), mark('reads'));
});

test('a line above the buttons says that nobody checked who asks for something sensitive, and only then', () => {
  const warning = /It asks for something sensitive, and Northwind hasn’t checked who makes it\.\s+Either way/;
  const permissions: Permission[] = [{ name: 'a', sentence: 'Delete mail', effect: 'sensitive', optional: true }];
  assert.match(said({ permissions }), warning);
  assert.doesNotMatch(said({ permissions, profile: { ...profile, isChecked: true } }), /something sensitive/);
  assert.doesNotMatch(said({ permissions: [{ name: 'a', sentence: 'Read', effect: 'reads' }] }), /something sensitive/);
});

test('an answer that did not count is said beside the buttons, where the eyes are', () => {
  const notTaken = { why: 'expired', choice: [] } as const;
  const page = String(consentPage(sampleContext('en'), { ...consent, ...planner, notTaken }));
  assert.match(textOf(page), /Please answer once more[^\n]*\s+Either way, you’ll go on to planner.example\s+Allow/);
});

test('app developers: the list of permissions says which of them are sensitive', () => {
  const page = String(samplePages(sampleContext('en'))['developers']);
  const marked = Array.from(page.matchAll(/<dt><code>([^<]*)<\/code><\/dt><dd>.*?<\/dd>/g))
    .filter(([row]) => row.includes('class="effect sensitive"'))
    .map(([, name]) => name);
  assert.deepEqual(marked, ['rooms.delete']);
});

test('what an app gets of the person is said field by field, and what is new of it stands apart', () => {
  assert.match(said({}), /See who you are\s*Your name and email/);
  assert.match(
    said({ person: { fields: ['name', 'username', 'email', 'avatar_url'], signsIn: false, isNew: false } }),
    /Your name, username, email and picture/,
  );
  assert.match(said({ person: { fields: [], signsIn: false, isNew: false } }), /Only an ID/);
  const more = said({
    hasAccessAlready: true,
    person: { fields: ['name', 'email'], signsIn: false, isNew: true },
    permissions: [{ name: 'a', sentence: 'Read', earlier: 'allowed' }],
  });
  assert.match(more, /to do more with/);
  assert.match(more, /can also\s+See who you are\s*Your name and email\s+It can already\s+Read/);
});

test('two lines of one app that began in the same minute are told apart by their seconds', () => {
  const page = String(samplePages(sampleContext('en'))['connected-apps']);
  const allowed = Array.from(page.matchAll(/Allowed <time[^>]*>([^<]+)/g), ([, moment]) => moment);
  assert.deepEqual(allowed, [
    '18 Nov 2026, 11:06',
    '18 Nov 2026, 11:06:40',
    '18 Nov 2026, 11:06:47',
    '18 Nov 2026, 11:06',
  ]);
  assert.ok(page.includes('the access allowed 18 Nov 2026, 11:06:47 that waits for <bdi>Backup</bdi>'));
});

test('RFC 8252 §8.3, §8.6: a program on this device is called that, and only that', () => {
  for (const redirectHost of [
    '127.0.0.1',
    '127.0.0.1:51234',
    '[::1]',
    '[::1]:8080',
    'localhost',
    'localhost:3000',
    'com.example.app:',
    'cursor:',
  ]) {
    const words = said({}, { redirectHost });
    assert.ok(words.includes(`a program on this device: ${redirectHost}. Allow it only if you just started it.`));
    // RFC 8252 §8.3: a name is weaker than an address.
    assert.equal(words.includes('The name localhost means'), redirectHost.startsWith('localhost'), redirectHost);
  }
  for (const redirectHost of [
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '127.1',
    'evil.example:443',
    'xlocalhost',
  ]) {
    assert.ok(said({}, { redirectHost }).includes(`go on to ${redirectHost}`), redirectHost);
  }
});

test('a hostile app name is isolated, shortened and shown without tricks', () => {
  const long = consentMarkup({ appName: `Ev\u202Eil\u200B ${'x'.repeat(5_000)}` });
  assert.match(long, /<h1>Allow <bdi>Evil x{94}…<\/bdi> to use/);
  assert.ok(long.length < 8_000);
  assert.match(consentMarkup({ appName: '\u202E\u200B' }), /<h1>Allow <bdi>—<\/bdi> to/);
});

/** The fields of a page's forms that carry a scope, each with its value, and whether it is hidden or a ticked box. */
function scopeFields(page: string): string[] {
  return Array.from(
    page.matchAll(/<input type="(\w+)" name="scope" value="([^"]*)"( checked)?>/g),
    ([, type, value, checked]) => [type, value, checked].join(' ').trimEnd(),
  );
}

test('without optional permissions the consent form is two buttons, and Allow comes first', () => {
  const page = consentMarkup({ permissions: [{ name: 'mail.read', sentence: 'Read your mail' }] });
  assert.doesNotMatch(page, /checkbox|fieldset|name="scope"|formmethod/);
  assert.equal(page.match(/<button/g)?.length, 3, 'Switch, Allow and Deny');
});

test('RFC 6749 §3.3: optional permissions are boxes that nobody ticked beforehand, after those that cannot', () => {
  const page = consentMarkup({
    permissions: [
      { name: 'mail.send', sentence: 'Send mail', optional: true },
      { name: 'mail.read', sentence: 'Read your mail' },
      { name: 'mail.delete', sentence: null, optional: true },
    ],
  });
  assert.deepEqual(scopeFields(page), ['checkbox mail.send', 'checkbox mail.delete']);
  assert.match(page, /<fieldset class="options">\s*<legend>Optional: tick what you also want to allow<\/legend>/);
  assert.ok(page.indexOf('Read your mail') < page.indexOf('Send mail'));
  assert.match(
    page,
    /<label><input type="checkbox" name="scope" value="mail.send"><span><bdi>Send mail<\/bdi><\/span><\/label>/,
  );
});

test('an app that has access and asks for more: what is new is first, what it has is said and kept', () => {
  const page = consentMarkup({
    hasAccessAlready: true,
    permissions: [
      { name: 'mail.read', sentence: 'Read your mail', earlier: 'allowed' },
      { name: 'mail.send', sentence: 'Send mail' },
      { name: 'mail.sort', sentence: 'Sort your mail', optional: true, earlier: 'allowed' },
      { name: 'mail.delete', sentence: 'Delete your mail', optional: true },
      { name: 'mail.export', sentence: 'Export your mail', optional: true, earlier: 'left_out' },
    ],
  });
  const text = textOf(page).replace(/\s+/g, ' ');
  for (const part of [
    'Allow Planner to do more with your Northwind account?',
    'It already has access to your account, and now asks for more.',
    'If you allow it, this app can also Send mail Optional: tick what you also want to allow Delete your mail Export your mail It can already',
    'it gets nothing more, and keeps what it has',
  ]) {
    assert.ok(text.includes(part), part);
  }
  assert.match(text, /It can already See who you are.* Read your mail Sort your mail More below/);
  assert.doesNotMatch(text, /nothing is shared/);
  assert.deepEqual(scopeFields(page), ['checkbox mail.delete', 'checkbox mail.export', 'hidden mail.sort']);
});

test('an app that has all it asks for but what was left out: no word of more, and each choice as it was', () => {
  const permissions: Permission[] = [
    { name: 'mail.read', sentence: 'Read your mail', earlier: 'allowed' },
    { name: 'mail.sort', sentence: 'Sort your mail', optional: true, earlier: 'allowed' },
    { name: 'mail.send', sentence: 'Send mail', optional: true, earlier: 'left_out' },
  ];
  const page = consentMarkup({ hasAccessAlready: true, permissions });
  const text = textOf(page);
  assert.ok(text.includes('Allow Planner to use your Northwind account?'));
  assert.ok(
    text.includes('This app already has access to your account. Apps ask again when you connect them once more'),
  );
  assert.doesNotMatch(text, /It can already|>New</);
  assert.deepEqual(scopeFields(page), ['checkbox mail.sort  checked', 'checkbox mail.send']);
});

test('a hundred permissions with hostile sentences are all there, shortened, isolated and without tricks', () => {
  const sentence = `\u202E\u2066${'<b>Do anything'.repeat(1_000)}`;
  const permissions = Array.from({ length: 100 }, (_, at) => ({
    name: `"><p ${at}`,
    sentence,
    optional: at % 2 === 0,
  }));
  const page = consentMarkup({ permissions });
  assert.equal(page.match(/<bdi>&lt;b&gt;Do anything/g)?.length, 100);
  assert.equal(scopeFields(page).length, 50);
  assert.doesNotMatch(page, /[\u202A-\u202E\u2066-\u2069]|<b>|<p \d/);
  assert.ok(page.length < 100_000);
});

test('how long access lasts is said as it is set, in units that people use', () => {
  for (const [max, unused, words] of [
    [31_536_000, 2_592_000, 'for up to a year; ends after 30 days without use.'],
    [86_400, 3600, 'for up to a day; ends after an hour without use.'],
    [604_800, 604_800, 'for up to 7 days.'],
    [63_072_000, 5400, 'for up to 2 years; ends after 90 minutes without use.'],
  ] as const)
    assert.ok(said({ accessDuration: { max, unused } }).includes(words), words);
});

const device: ConsentDestination = { userCode: 'BCDF-GHJK' };

test('RFC 8628 §5.4: consent for a device asks to compare the code with a device at hand, and warns of codes from others', () => {
  const text = said({}, device);
  for (const part of [
    'Allow Planner to use your Northwind account?',
    'A device is asking',
    'Only continue if you started this yourself, on a device in front of you that shows this code:',
    'BCDF-GHJK',
    'Did someone else give you this code, or a link to this page? Choose Deny',
  ]) {
    assert.ok(text.includes(part), part);
  }
  assert.doesNotMatch(text, /go on to|go back to an app/);
  assert.doesNotMatch(said({}), /device that you have in front of you/);
});

test('RFC 8628 §3.3: the code is typed into a form that decides nothing, and is kept to be corrected', () => {
  const page = String(deviceCodePage(sampleContext('en'), { userCode: 'bcdf ghjk', problem: null }));
  assert.match(page, /<form method="get" action="\/device"/);
  assert.match(page, /<label for="user_code">/);
  assert.match(page, /<input id="user_code" name="user_code" [^>]*value="bcdf ghjk" dir="ltr"/);
  assert.doesNotMatch(page, /alert|aria-invalid|form_token/);
});

test('a code that leads nowhere is said to, and too many tries are told how long to wait', () => {
  const pageWith = (problem: Parameters<typeof deviceCodePage>[1]['problem']) =>
    String(deviceCodePage(sampleContext('en'), { userCode: 'BCDF-GHJK', problem }));
  const unknown = pageWith({ kind: 'unknown_code' });
  assert.match(unknown, /<title>Problem: Connect a device – Northwind<\/title>/);
  assert.match(unknown, /role="alert" id="problem".*start again there/s);
  assert.match(unknown, /aria-describedby="problem hint" aria-invalid="true"/);
  const throttled = pageWith({ kind: 'throttled', retryAfterSeconds: 150 });
  assert.match(throttled, /role="alert" id="problem".*Please wait 3 minutes/s);
  assert.doesNotMatch(throttled, /aria-invalid/);
});

test('after the decision for a device, the page says what was decided, and how to take it back', () => {
  const done = (decision: 'allowed' | 'denied', isConnected = false) =>
    textOf(String(deviceDonePage(sampleContext('en'), { decision, isConnected, appName: 'Planner' })));
  const said = 'You allowed Planner. It connects in a moment; until then you can still take it back.';
  assert.ok(done('allowed').includes(said));
  assert.match(done('allowed'), /Connected apps/);
  assert.match(done('allowed', true), /You can go back to your device\s+Planner is connected.*\s+.*Connected apps/);
  assert.match(done('denied'), /Nothing was shared\s+The request from Planner was denied/);
  assert.doesNotMatch(done('denied'), /Connected apps/);
});

test('the developers’ page sends a newcomer one of two ways, and names every address of both', () => {
  const page = String(samplePages(sampleContext('en'))['developers']);
  assert.match(page, /<ul class="ways">\s*<li><a href="#library">.*?<\/li>\s*<li><a href="#calls">/s);
  for (const path of [
    '',
    '/.well-known/oauth-authorization-server',
    '/oauth2/authorize',
    '/oauth2/token',
    '/oauth2/revoke',
    '/oauth2/introspect',
    '/oauth2/par',
    '/oauth2/device_authorization',
    '/oauth2/revocations',
    '/openapi.json',
    '/auth/oauth2/authorize',
    '/api/auth/oauth/token',
    '/api/auth/oauth/refreshToken',
  ]) {
    assert.ok(page.includes(`dir="ltr">https://accounts.northwind.example${path}</code>`), path);
  }
  for (const [, anchor] of page.matchAll(/<a href="#([^"]*)"/g))
    assert.ok(page.includes(`<div class="chapter" id="${anchor}"`), anchor);
  for (const scope of ['calendar.read', 'calendar.write'])
    assert.ok(page.includes(`<dt><code>${scope}</code></dt>`), scope);
});

for (const language of ['en', 'ar'] as const)
  test(`the developers’ page tells users of Go and of @fastify/oauth2 what they have to set (${language})`, () => {
    const page = String(samplePages(sampleContext(language))['developers']);
    const [, library = '', calls = ''] = /id="library">(.*?)<h2>.*id="calls">(.*?)<h2>/s.exec(page) ?? [];
    assert.match(library, /<code[^>]*>@fastify\/oauth2<\/code>.*<code>scope<\/code>/s);
    assert.match(calls, /AuthStyle: oauth2\.AuthStyleInParams<\/code>.*<code>TokenURL<\/code>/s);
  });
