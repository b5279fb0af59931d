/** What scanners are told finds every credential that must not be published, and little else. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type CredentialKind, deriveCredential } from '../../src/oauth/keys/credential.ts';
import { makeSecret } from '../../src/oauth/keys/secret.ts';
import { scanRules } from '../../src/operator/leaks/scan-rules.ts';
import { makeRootKey } from '../../src/settings/root-keys.ts';
import { issuedGrant, keyring } from '../oauth/samples.ts';
import { runCommand } from '../support/command.ts';
import { obtainCode, obtainPair, signedInBrowser } from '../support/flow.ts';
import { registerProvider } from '../support/provider.ts';
import { addClient, addUser, startTestService } from '../support/service.ts';
import { addResourceServer } from '../support/standard.ts';

const rules = scanRules('acme');

function token(kind: CredentialKind): string {
  const header = { keyId: keyring.currentKeyId, grantId: issuedGrant.id, generation: 1, expiresAt: 1 };
  return deriveCredential(keyring, 'acme', kind, header, issuedGrant.seed);
}

function foundIn(text: string): string[] {
  return rules.filter(({ pattern }) => new RegExp(pattern).test(text)).map(({ id }) => id);
}

test('Promise 4: each kind of secret and token is found in a line of code, by its own rule', () => {
  const texts: [id: string, text: string][] = [
    ['acme-cs', makeSecret('acme', 'cs', 0).text],
    ['acme-rs', makeSecret('acme', 'rs', 0).text],
    ['acme-ps', makeSecret('acme', 'ps', 0).text],
    ['acme-ok', makeSecret('acme', 'ok', 0).text],
    ['acme-at', token('at')],
    ['acme-rt', token('rt')],
    ['vk-rk', makeRootKey()],
  ];
  for (const [id, text] of texts) {
    for (const line of [text, `token = "${text}"`, `https://x.test/?t=${text}&y`, `Bearer ${text}\n`])
      assert.deepEqual(foundIn(line), [id], line);
    assert.deepEqual(foundIn(text.slice(0, -1)), [], 'one that was cut');
  }
  assert.deepEqual(rules.map(({ id }) => id).toSorted(), texts.map(([id]) => id).toSorted());
});

test('what only looks a little like one is not found', () => {
  for (const text of ['acme_cs_', 'acme_at_short', `other_at_${'a'.repeat(200)}`, 'a comment on acme_rt_ tokens'])
    assert.deepEqual(foundIn(text), [], text);
});

/** Where each format of the command has a pattern; GitHub itself looks at what stands before and after. */
const FORMATS: Readonly<Record<string, RegExp>> = {
  '--json': /^ *"pattern": (".*")$/gm,
  '--format gitleaks': /^regex = '''(.*)'''$/gm,
  '--format trufflehog': /^ {6}credential: '(.*)'$/gm,
  '--format github': /^[\w ]+: (.*)$/gm,
  '': /(\\b\S+)$/gm,
};

/** Secrets and tokens as a service hands them out, by kind, and a code, which is none that is looked for. */
async function handedOut(t: TestContext) {
  const service = await startTestService(t, { VALETKEY_TOKEN_PREFIX: 'acme' });
  await addUser(service);
  const client = await addClient(service);
  const browser = await signedInBrowser(service);
  const { accessToken, refreshToken } = await obtainPair(service, browser, client);
  const provider = await registerProvider(service);
  return {
    found: [
      client.clientSecret,
      (await addResourceServer(service)).secret,
      provider.secret,
      makeSecret('acme', 'ok', 0).text,
      refreshToken,
      accessToken,
      makeRootKey(),
    ],
    code: await obtainCode(service, browser, client),
  };
}

test('Promise 4: each pattern that scan-rules prints, in any format, finds one kind that a service hands out, and no near miss', async (t) => {
  const { found, code } = await handedOut(t);
  for (const [format, place] of Object.entries(FORMATS)) {
    const words = ['scan-rules', ...format.split(' ').filter(Boolean)];
    const { stdout } = await runCommand(words, { VALETKEY_TOKEN_PREFIX: 'acme' });
    const printed = [...stdout.matchAll(place)].map(([, text = '']) =>
      text.startsWith('"') ? JSON.parse(text) : text,
    );
    const patterns = printed.map((text) => new RegExp(format.endsWith('github') ? `(?<![0-9A-Za-z])${text}` : text));
    assert.equal(patterns.length, found.length, stdout);
    const kindsIn = (text: string) => patterns.flatMap((pattern, kind) => (pattern.test(text) ? [kind] : []));
    for (const [kind, text] of found.entries()) {
      const [prefix = '', abbreviated = ''] = text.split('_');
      for (const line of [text, `secret: "${text}"`, `a=1&t=${text}&b`])
        assert.deepEqual(kindsIn(line), [kind], format);
      const nearMisses = [
        text.slice(0, -1),
        `${text.slice(0, 30)}.${text.slice(31)}`,
        `x${text}`,
        text.replace(prefix, prefix.toUpperCase()),
        text.replace(`_${abbreviated}_`, '_zz_'),
        text.replace(`_${abbreviated}_`, `-${abbreviated}-`),
      ];
      for (const nearMiss of nearMisses) assert.deepEqual(kindsIn(nearMiss), [], `${format} ${nearMiss}`);
    }
    assert.deepEqual(kindsIn(code), [], 'a code, which lives for a minute');
  }
});
