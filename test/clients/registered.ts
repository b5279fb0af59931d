/** What the tests of libraries register, and what a person does for a device. */
import assert from 'node:assert/strict';
import { generateKeyPair } from 'oauth4webapi';
import type { ClientSettings, ClientType } from '../../src/oauth/clients/client.ts';
import type { Browser } from '../support/browser.ts';
import type { TestClient } from '../support/flow.ts';
import { addClient, type TestService } from '../support/service.ts';

/** Registers an app that may read. */
export function addApp(
  service: TestService,
  settings: Partial<ClientSettings> = {},
  type: ClientType = 'confidential',
): Promise<TestClient> {
  return addClient(service, { scopes: [{ name: 'read', sentence: null, optional: false }], ...settings }, type);
}

/** Registers a resource server that sees every scope. */
export async function addResourceServer({ installation }: TestService): Promise<{ id: string; secret: string }> {
  const settings = { name: 'Notes API', resource: null, scopes: null };
  const { row: resourceServer, secret } = await installation.resourceServers.register(settings, installation.operator);
  return { id: resourceServer.id, secret };
}

/** A client's key pair: the public half to register, the private half for the library. */
export async function makeKeyPair(alg: 'ES256' | 'PS256' | 'RS256' | 'Ed25519') {
  const { publicKey, privateKey } = await generateKeyPair(alg);
  const kid = `key-${alg}`;
  return { jwk: { ...(await crypto.subtle.exportKey('jwk', publicKey)), kid, use: 'sig' }, privateKey, kid };
}

/** Allows a device from the page that it asked a person to visit. */
export async function allowDevice(browser: Browser, verificationUriComplete: string): Promise<void> {
  const page = await browser.get(verificationUriComplete);
  const visit = await browser.submit(page, '/device', { decision: 'allow' });
  assert.ok(visit.status < 400, visit.body);
}
