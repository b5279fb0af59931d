/**
 * Agents, as MCP's own libraries make them, with an MCP server that packages/verify guards from its tarball: 401, discovery,
 * consent in Chromium, a tool call, more scopes when a tool needs them, a refresh, and the end of access.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { serve } from '@hono/node-server';
import * as v2 from '@modelcontextprotocol/client';
import { UnauthorizedError as UnauthorizedV1 } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { McpServer, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import type { Page } from 'playwright-core';
import type * as Package from '../../packages/verify/src/verifier.ts';
import { buildVerifier, pack } from '../../tools/package.mjs';
import { launchBrowser, noBrowser } from '../support/chromium.ts';
import { addClient, addUser, PASSWORD, startTestService } from '../support/service.ts';
import { scopes } from '../support/standard.ts';

const READ = ['mail.read'];
const BOTH = ['mail.read', 'mail.send'];

/** The libraries, as far as they differ. */
const LIBRARIES = {
  '@modelcontextprotocol/client': {
    newClient: () => new v2.Client({ name: 'agent', version: '1' }),
    newTransport: (url: URL, authProvider: Agent) => new v2.StreamableHTTPClientTransport(url, { authProvider }),
    Unauthorized: v2.UnauthorizedError,
    refreshesFirst: false,
  },
  '@modelcontextprotocol/sdk': {
    newClient: () => new ClientV1({ name: 'agent', version: '1' }),
    newTransport: (url: URL, authProvider: Agent) => new TransportV1(url, { authProvider }),
    Unauthorized: UnauthorizedV1,
    refreshesFirst: true,
  },
} as const;

/** What an agent keeps: the client that the operator registered, its tokens, and where it sent the browser. */
class Agent implements v2.OAuthClientProvider {
  readonly redirectUrl: string;
  readonly clientMetadata = { client_name: 'Agent', redirect_uris: [] as string[] };
  readonly #clientId: string;
  saved: v2.OAuthTokens | undefined;
  sentTo: URL | undefined;
  #verifier = '';

  constructor(clientId: string, redirectUrl: string) {
    this.#clientId = clientId;
    this.redirectUrl = redirectUrl;
    this.clientMetadata.redirect_uris.push(redirectUrl);
  }

  state = () => 'the state of this agent';
  clientInformation = () => ({ client_id: this.#clientId });
  tokens = () => this.saved;
  saveTokens(tokens: v2.OAuthTokens): void {
    this.saved = tokens;
  }
  redirectToAuthorization(url: URL): void {
    this.sentTo = url;
  }
  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }
  codeVerifier = () => this.#verifier;

  /** Where the browser was sent to since the last look. */
  takeAddress(): URL {
    const address = this.sentTo;
    this.sentTo = undefined;
    assert.ok(address, 'the agent sent the browser somewhere');
    return address;
  }
}

/** packages/verify as an API has it: built, packed, installed. */
async function installPackage(): Promise<typeof Package> {
  const folder = await mkdtemp(join(tmpdir(), 'valetkey-mcp-'));
  after(() => rm(folder, { recursive: true, force: true }));
  buildVerifier(join(folder, 'built'));
  const { filename } = pack(join(folder, 'built'), folder);
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  const words = ['install', '--offline', '--no-audit', '--no-fund', join(folder, filename)];
  await promisify(execFile)('npm', words, { cwd: folder });
  return import(pathToFileURL(join(folder, 'node_modules/@valetkey/verify/dist/verifier.js')).href);
}

async function portOf(server: Server): Promise<number> {
  if (!server.listening) await once(server, 'listening');
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** An MCP server with two tools, of which one needs another scope. */
function toolsFor({ sub }: Package.Principal): McpServer {
  const server = new McpServer({ name: 'mail', version: '1' });
  const answer = (text: string) => async () => ({ content: [{ type: 'text' as const, text }] });
  server.registerTool('whoami', { description: 'Whose mail it is' }, answer(sub));
  server.registerTool('send', { description: 'Sends a mail' }, answer('sent'));
  return server;
}

async function prepare() {
  const service = await startTestService({ after });
  service.clock.advance((Date.now() - service.clock.now()) / 1000); // The libraries judge expiry by their own clock.
  const user = await addUser(service);
  const chromium = await launchBrowser();
  after(() => chromium.close());
  const { createVerifier } = await installPackage();

  let handle: (request: Request) => Promise<Response> = async () => new Response(null, { status: 503 });
  const port = await portOf(serve({ fetch: (request) => handle(request), port: 0, hostname: '127.0.0.1' }) as Server);
  const resource = `http://127.0.0.1:${port}/mcp`;
  const api = { name: 'Mail', resource, scopes: BOTH };
  const { row: resourceServer, secret } = await service.installation.resourceServers.register(
    api,
    service.installation.operator,
  );
  const settings = { issuer: service.appUrl, id: resourceServer.id, secret, resource, scopesSupported: BOTH };
  const verifier = createVerifier({ ...settings, now: service.clock.now, onProblem: () => {} });
  after(() => verifier.close());
  handle = async (request) => {
    const metadata = verifier.metadataResponse(request);
    if (metadata) return metadata;
    const isSending = (await request.clone().text()).includes('"name":"send"');
    const result = await verifier.check(request.headers.get('authorization'), { scopes: isSending ? BOTH : READ });
    if (!result.ok) return new Response(JSON.stringify(result.body), result);
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    await toolsFor(result.principal).connect(transport);
    return transport.handleRequest(request);
  };
  // Listens on a port of its own each time, as agents do.
  const callback = createServer((_request, response) => response.end('You may close this tab.'));
  const callbackPort = await portOf(callback.listen(0, 'localhost'));
  return { service, user, chromium, resource, redirectUrl: `http://localhost:${callbackPort}/callback` };
}

const prepared = noBrowser ? null : await prepare();

describe('MCP in Chromium', { skip: noBrowser }, () => {
  if (!prepared) return;
  const { service, user, chromium, resource, redirectUrl } = prepared;

  /** The person signs in if need be and presses Allow; answers what the browser brings back. */
  async function allow(page: Page, address: URL): Promise<URLSearchParams> {
    await page.goto(address.href);
    if ((await page.locator('[name=password]').count()) > 0) {
      await page.fill('[name=email]', 'ada@example.com');
      await page.fill('[name=password]', PASSWORD);
      await page.click('main button');
    }
    await page.click('button[value=allow]');
    await page.waitForURL(`${redirectUrl}?*`);
    return new URL(page.url()).searchParams;
  }

  for (const [name, { newClient, newTransport, Unauthorized, refreshesFirst }] of Object.entries(LIBRARIES))
    test(`RFC 9728 §5: ${name} finds its way from the API's address to its tools`, async () => {
      const registered = { name, redirectUris: ['http://localhost/callback'], scopes: scopes(...BOTH) };
      const { clientId } = await addClient(service, registered, 'public');
      const agent = new Agent(clientId, redirectUrl);
      const page = await (await chromium.newContext()).newPage();
      const url = new URL(resource);

      /** Does something that needs an Allow first. */
      const afterAllow = async (act: () => Promise<unknown>): Promise<URL> => {
        await assert.rejects(act, Unauthorized);
        const address = agent.takeAddress();
        const finishing = newTransport(url, agent);
        const brought = await allow(page, address);
        assert.equal(brought.get('state'), 'the state of this agent');
        await finishing.finishAuth(brought.get('code') ?? '', brought.get('iss') ?? undefined);
        return address;
      };
      const connected = async () => {
        const client = newClient();
        await client.connect(newTransport(url, agent) as never);
        return client as v2.Client;
      };
      const call = async (tool: string) => {
        const { content } = await (await connected()).callTool({ name: tool });
        return (content as { text: string }[])[0]?.text;
      };

      // 401, discovery, authorization.
      const first = await afterAllow(connected);
      assert.equal(first.origin, service.appUrl);
      assert.equal(first.searchParams.get('resource'), resource);
      assert.equal(first.searchParams.get('scope'), 'mail.read', 'the scope that the 401 names');
      assert.equal(await call('whoami'), user.id);

      // Step-up.
      if (refreshesFirst && agent.saved) delete agent.saved.refresh_token; // As its hosts do: a refresh never widens.
      const second = await afterAllow(() => call('send'));
      assert.deepEqual(second.searchParams.get('scope')?.split(' ').toSorted(), BOTH);
      assert.equal(await call('send'), 'sent');

      // Refresh.
      const before = agent.saved?.refresh_token;
      service.clock.advance(31 * 60);
      assert.equal(await call('whoami'), user.id);
      assert.notEqual(agent.saved?.refresh_token, before);
      assert.equal(agent.sentTo, undefined, 'nobody was asked');

      // Revocation: seen by the next call that begins a second later.
      await page.goto(`${service.appUrl}/account/apps`);
      await page.click(`form:has([name=client_id][value="${clientId}"]) button`);
      await sleep(1000);
      await assert.rejects(() => call('whoami'), Unauthorized);
      assert.ok(agent.takeAddress());
    });
});
