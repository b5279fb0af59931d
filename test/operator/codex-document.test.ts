import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codexDocumentFor } from '../../src/operator/products-and-apis/codex-client-ids.ts';

/** Made by: printf %s URL | openssl dgst -sha256 -binary | head -c 9 | openssl base64 | tr '+/' '-_' */
const KNOWN: readonly [url: string, id: string][] = [
  ['https://mcp.example.com/mcp', 'epMNJ6P1xGQ9'],
  ['https://blaise-fub-mcp.onrender.com/mcp', 'Msr2-imGFcgW'],
  ['https://mail.example.com/', '5rTV6NkutHB0'],
];
for (const [url, id] of KNOWN)
  test(`interface: the document of Codex for ${url} is known beforehand`, () => {
    assert.equal(codexDocumentFor(url), `https://chatgpt.com/oauth/codex/${id}/client.json`);
  });

test('interface: Codex writes the URL as browsers do: lower case, no default port, a slash for an empty path, no fragment', () => {
  for (const url of ['https://mail.example.com', 'HTTPS://Mail.Example.com:443', 'https://mail.example.com/#x'])
    assert.equal(codexDocumentFor(url), codexDocumentFor('https://mail.example.com/'), url);
  for (const url of ['https://mail.example.com/a', 'https://mail.example.com/A', 'https://mail.example.com/?a'])
    assert.notEqual(codexDocumentFor(url), codexDocumentFor('https://mail.example.com/'), url);
});

test('interface: a resource that is no URL of a server has no document of Codex', () => {
  for (const resource of [null, 'urn:example:mail', 'mail:x', 'ftp://mail.example.com/'])
    assert.equal(codexDocumentFor(resource), null);
});
