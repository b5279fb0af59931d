/** Runs a client program of another language through one life of a grant, with Ada's browser in between. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { homedir } from 'node:os';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { ClientType } from '../../src/oauth/clients/client.ts';
import { addApp } from '../clients/registered.ts';
import { allow, type World } from '../clients/walk.ts';
import { REDIRECT_URI } from '../support/service.ts';

/** A library of another language, as Debian packages it, and the program here that uses it. */
export type Library = {
  readonly name: string;
  /** The packages of Debian that have it, with the language itself. */
  readonly packages: readonly string[];
  /** Ends with 0 where the library is there. */
  readonly probe: readonly string[];
  readonly run: readonly string[];
  /** True for a program that signs a user in, as a confidential client, in place of living a grant. */
  readonly signsIn?: true;
};

const PYTHON = '/usr/bin/python3';
const GO = '/usr/bin/go';
const RUBY = '/usr/bin/ruby';

/** Every library that is tried, of the languages that apps are most often written in beside JavaScript. */
export const libraries: readonly Library[] = [
  {
    name: 'requests-oauthlib of Python',
    packages: ['python3-requests-oauthlib'],
    probe: [PYTHON, '-c', 'import requests_oauthlib'],
    run: [PYTHON, program('python/requests_oauthlib_client.py')],
  },
  {
    name: 'Authlib of Python',
    packages: ['python3-authlib', 'python3-requests'],
    probe: [PYTHON, '-c', 'import authlib.integrations.requests_client'],
    run: [PYTHON, program('python/authlib_client.py')],
  },
  {
    name: 'golang.org/x/oauth2 of Go',
    packages: ['golang-go', 'golang-golang-x-oauth2-dev'],
    probe: [GO, 'list', 'golang.org/x/oauth2'],
    run: [GO, 'run', program('go/main.go')],
  },
  {
    name: 'oauth2 of Ruby',
    packages: ['ruby', 'ruby-oauth2'],
    probe: [RUBY, '-e', 'require "oauth2"'],
    run: [RUBY, program('ruby/client.rb')],
  },
  {
    name: 'OpenID Connect with Authlib and Flask of Python',
    packages: ['python3-authlib', 'python3-requests', 'python3-flask'],
    probe: [PYTHON, '-c', 'import authlib.integrations.flask_client, flask'],
    run: [PYTHON, program('python/authlib_openid.py')],
    signsIn: true,
  },
  {
    name: 'OpenID Connect with go-oidc of Go',
    packages: ['golang-go', 'golang-github-coreos-go-oidc-dev'],
    probe: [GO, 'list', 'github.com/coreos/go-oidc'],
    run: [GO, 'run', program('go/openid/main.go')],
    signsIn: true,
  },
  {
    name: 'OpenID Connect with openid_connect of Ruby',
    packages: ['ruby', 'ruby-openid-connect'],
    probe: [RUBY, '-e', 'require "openid_connect"'],
    run: [RUBY, program('ruby/openid.rb')],
    signsIn: true,
  },
];

/** The client types that a library is tried as. */
export function typesFor({ signsIn }: Library): readonly ClientType[] {
  return signsIn ? ['confidential'] : ['confidential', 'public'];
}

/** Go takes Debian's sources where they are, and downloads nothing; the rest of the environment, as proxies, stays out. */
export const environment = {
  HOME: homedir(),
  PATH: '/usr/bin:/bin',
  LANG: 'C.UTF-8',
  GO111MODULE: 'off',
  GOPATH: '/usr/share/gocode',
  GOTOOLCHAIN: 'local',
};

/** The longest that one program may take, with Go's compiling; ms. */
const LONGEST_WALK = 180_000;

/** Whether a library is installed. */
export function isThere({ probe: [command = '', ...options] }: Library): boolean {
  return spawnSync(command, options, { env: environment, stdio: 'ignore', timeout: LONGEST_WALK }).status === 0;
}

/**
 * Walks with a library as a confidential or a public client, and answers the steps that its program said. The program
 * prints one line a step: `authorize` with the URL to open, after which it reads the URL that the browser was sent to.
 * Throws when a step fails or is missing.
 */
export async function walk(world: World, library: Library, type: ClientType): Promise<string[]> {
  const { appUrl, apiUrl } = world.service;
  const { clientId, clientSecret } = await addApp(world.service, { signIn: library.signsIn ?? false }, type);
  const [command = '', ...options] = library.run;
  const addresses = { APP_URL: appUrl, API_URL: apiUrl, REDIRECT_URI };
  const env = { ...environment, ...addresses, CLIENT_ID: clientId, CLIENT_SECRET: clientSecret };
  // A group of its own, so that what it started ends with it.
  const child = spawn(command, options, { env, detached: true });
  const kill = () => process.kill(-Number(child.pid), 'SIGKILL');
  const ended = once(child, 'exit');
  const overdue = setTimeout(kill, LONGEST_WALK);
  const complaints = text(child.stderr);
  const steps: string[] = [];
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      const [, url] = /^authorize (.*)$/.exec(line) ?? [];
      steps.push(url === undefined ? line : 'authorize');
      if (url !== undefined) child.stdin.end(`${await allow(world.browser, url)}\n`);
    }
    const [code] = await ended;
    assert.equal(code, 0, await complaints);
  } finally {
    clearTimeout(overdue);
    if (child.exitCode === null && child.signalCode === null) kill();
  }
  assert.deepEqual(steps, library.signsIn ? SIGN_IN_STEPS : STEPS);
  return steps;
}

const STEPS = [
  'authorize',
  'exchange',
  'me ada@example.com',
  'refresh',
  'me ada@example.com',
  'revoke',
  'me 401',
  'refresh invalid_grant',
];

const SIGN_IN_STEPS = ['authorize', 'exchange', 'id_token ada@example.com', 'userinfo ada@example.com'];

function program(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url));
}
