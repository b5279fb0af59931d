import assert from 'node:assert/strict';
import { test } from 'node:test';
import { consentPage } from '../../src/pages/consent-page.ts';
import { languages } from '../../src/pages/messages/messages.ts';
import { signInPage } from '../../src/pages/sign-in-page.ts';
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
  test(`every page in ${language} is whole, and holds no script, no inline style and no way out`, () => {
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
      assert.doesNotMatch(text, /<script|<style|\sstyle=|\son[a-z]+=|undefined|\[object|NaN/i, name);
      for (const [, href] of text.matchAll(/<a [^>]*href="([^"]*)"/g)) {
        assert.match(href ?? '', /^(?:\/[a-z-]|\/$|#[a-z]|mailto:help@northwind\.example$)/, name);
      }
      for (const [form] of text.matchAll(/<form[\s\S]*?<\/form>/g)) {
        assert.match(form, /^<form method="post" action="\/[^"]*"/, name);
        assert.match(form, /<input type="hidden" name="form_token" value="[^"]+">/, name);
      }
    }
  });
}

test('the support address is a link only if it is an email or https address', () => {
  const footer = (supportAddress: string | null) => {
    const page = signInPage(sampleContext('en', { ...sampleBrand, supportAddress }), signIn);
    return /<a href="([^"]*)">Get help/.exec(String(page))?.[1];
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

const signIn = { formToken: 't', continueTo: null, email: '', problem: null, appName: null };

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

const consent = {
  appName: 'Planner',
  redirectHost: 'planner.example',
  account: { name: 'Ada', email: 'ada@northwind.example' },
  permissions: [],
  action: '/auth/oauth2/authorize?client_id=a',
  formToken: 't',
  switchAccount: { continueTo: '/auth/oauth2/authorize?client_id=a', formToken: 'u' },
};

/** What the consent page says, without its markup. */
function said(change: Partial<typeof consent>): string {
  return String(consentPage(sampleContext('en'), { ...consent, ...change })).replace(/<[^>]*>/g, '');
}

test('the consent page names the app, the account, the host, what it means and how to take it back', () => {
  for (const part of [
    'Allow Planner to use your Northwind account?',
    'ada@northwind.example',
    'go on to planner.example',
    'See who you are',
    'Connected apps',
  ]) {
    assert.ok(said({}).includes(part), part);
  }
  const page = String(consentPage(sampleContext('en'), consent));
  assert.match(page, /<button class="primary" name="decision" value="allow">Allow<\/button>/);
  assert.match(page, /<button class="secondary" name="decision" value="deny">Deny<\/button>/);
});

test('an app on this device is called that, and only that', () => {
  for (const redirectHost of [
    '127.0.0.1',
    '127.0.0.1:51234',
    '[::1]',
    '[::1]:8080',
    'localhost',
    'localhost:3000',
    'com.example.app:',
  ]) {
    assert.ok(said({ redirectHost }).includes('an app on this device'), redirectHost);
  }
  for (const redirectHost of [
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '127.1',
    'evil.example:443',
    'xlocalhost',
  ]) {
    assert.ok(said({ redirectHost }).includes(`go on to ${redirectHost}`), redirectHost);
  }
});

test('a hostile app name is isolated, shortened and shown without tricks', () => {
  const long = String(
    consentPage(sampleContext('en'), { ...consent, appName: `Ev\u202Eil\u200B ${'x'.repeat(5_000)}` }),
  );
  assert.match(long, /<h1>Allow <bdi>Evil x{74}…<\/bdi> to use/);
  assert.ok(long.length < 8_000);
  assert.match(
    String(consentPage(sampleContext('en'), { ...consent, appName: '\u202E\u200B' })),
    /<h1>Allow <bdi>—<\/bdi> to/,
  );
});
