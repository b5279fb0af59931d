/** A real nginx with the configurations under deploy/, in front of instances on this machine. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import tls from 'node:tls';
import { makeCertificate } from '../support/certificate.ts';
import { freePort, type Lifetime } from '../support/service.ts';

const NGINX = '/usr/sbin/nginx';
const TEMPLATE = new URL('../../deploy/nginx.conf.template', import.meta.url);
const ONE_MACHINE = new URL('../../deploy/nginx.conf', import.meta.url);
const CERTIFICATE_LIFETIME_MS = 90 * 86_400_000;
const PATIENCE_MS = 60_000;

/** The longest that both files let nginx keep an idle connection; what the instances are told of it. */
export const BEHIND_NGINX = { VALETKEY_TRUSTED_PROXIES: '127.0.0.1', VALETKEY_PROXY_IDLE_TIMEOUT: '4' };

/** Whether nginx is installed here. */
export function isThere(): boolean {
  return spawnSync(NGINX, ['-v'], { stdio: 'ignore' }).status === 0;
}

/** An nginx that runs. */
export type RunningNginx = {
  /** The requests that it handed on to an instance, by method and status, as its log has them. */
  handedOn(): string[];
  /** All that its access log has, and its error log. */
  log(): string;
  errors(): string;
};

/** Where nginx answers for the pages and token endpoints, and for the API. */
export type Addresses = { readonly appUrl: string; readonly apiUrl: string };

/** Two free addresses for nginx, which instances have to know before it starts. */
export async function nginxAddresses(): Promise<Addresses> {
  return { appUrl: `http://127.0.0.1:${await freePort()}`, apiUrl: `http://127.0.0.1:${await freePort()}` };
}

/** Starts nginx at its addresses, in front of instances, with the configuration of compose.yaml; it ends with the test. */
export function startNginx(t: Lifetime, at: Addresses, instances: readonly Addresses[]): Promise<RunningNginx> {
  return runNginx(t, at.appUrl, (folder) => site(folder, at, instances));
}

/** Where nginx answers as one machine has it: with TLS, and at `plainUrl` without. */
export type OneMachine = Addresses & { readonly plainUrl: string };

/** Free addresses for it, of a host that the certificate of `startOneMachine` is for. */
export async function oneMachineAddresses(): Promise<OneMachine> {
  const at = async (scheme: string) => `${scheme}://localhost:${await freePort()}`;
  return { appUrl: await at('https'), apiUrl: await at('https'), plainUrl: await at('http') };
}

/**
 * Starts nginx at its addresses, in front of a service, with deploy/nginx.conf, in which names, ports and paths are changed. This
 * process trusts its certificate from then on.
 */
export function startOneMachine(t: Lifetime, at: OneMachine, service: Addresses): Promise<RunningNginx> {
  const { key, cert } = makeCertificate(Date.now(), CERTIFICATE_LIFETIME_MS);
  tls.setDefaultCACertificates([...tls.getCACertificates('default'), cert]);
  return runNginx(t, at.appUrl, async (folder) => {
    writeFileSync(join(folder, 'valetkey.key'), key);
    writeFileSync(join(folder, 'valetkey.crt'), cert);
    const [app, api, plain] = [at.appUrl, at.apiUrl, at.plainUrl].map((url) => `127.0.0.1:${new URL(url).port}`);
    const listen = [app, api];
    return readFileSync(ONE_MACHINE, 'utf8')
      .replaceAll(/ {4}listen \[::\].*\n/g, '')
      .replaceAll('listen 443 ssl;', () => `listen ${listen.shift()} ssl;`)
      .replace('listen 443 ssl default_server;', `listen ${app} ssl default_server; listen ${api} ssl default_server;`)
      .replaceAll('listen 80', `listen ${plain}`)
      .replaceAll(/server_name .*;/g, 'server_name localhost;')
      .replaceAll('127.0.0.1:3000', new URL(service.appUrl).host)
      .replaceAll('127.0.0.1:3001', new URL(service.apiUrl).host)
      .replaceAll('/etc/ssl/', `${folder}/`)
      .replaceAll('/var/www/html', folder)
      .replaceAll('/var/log/nginx/valetkey.log', `${folder}/access.log`)
      .replaceAll('/var/log/nginx/', `${folder}/`);
  });
}

/** Starts nginx with what `site` makes of a configuration, for a folder; resolves when it answers at `url`. */
export async function runNginx(
  t: Lifetime,
  url: string,
  site: (folder: string) => Promise<string>,
): Promise<RunningNginx> {
  const folder = mkdtempSync(join(tmpdir(), 'valetkey-nginx-'));
  writeFileSync(join(folder, 'nginx.conf'), main(folder, await site(folder)));
  const options = ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', join(folder, 'error.log')];
  const child = spawn(NGINX, options, { stdio: 'ignore' });
  t.after(() => end(child, folder));
  await untilListening(child, url).catch(() => {
    throw new Error(`nginx: ${readFileSync(join(folder, 'error.log'), 'utf8')}`);
  });
  const log = () => readFileSync(join(folder, 'access.log'), 'utf8');
  return {
    log,
    errors: () => readFileSync(join(folder, 'error.log'), 'utf8'),
    handedOn: () =>
      log()
        .split('\n')
        .map((line) => line.split(' '))
        .filter((words) => /^127/.test(words[6] ?? ''))
        .map(([, , method, , status]) => `${method} ${status}`),
  };
}

async function end(child: ChildProcess, folder: string): Promise<void> {
  const ended = once(child, 'exit');
  if (child.exitCode === null && child.kill('SIGTERM')) await ended;
  rmSync(folder, { recursive: true, force: true });
}

/** What the image of nginx has around the template. */
function main(folder: string, site: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (of) => `${of}_temp_path ${folder}/${of};`,
  );
  return `daemon off;
worker_processes 2;
${process.getuid?.() === 0 ? 'user root;' : ''}
pid ${folder}/pid;
events { worker_connections 1024; }
http {
${temporary.join('\n')}
${site}
}`;
}

/**
 * The template without TLS, which has nothing to do with how requests are handed on; instances are still told https, or they
 * would not read them themselves.
 */
async function site(folder: string, { appUrl, apiUrl }: Addresses, instances: readonly Addresses[]): Promise<string> {
  const servers = (which: keyof Addresses) =>
    instances.map((one) => `    server ${new URL(one[which]).host} max_fails=1 fail_timeout=2s;\n`).join('');
  const listen = [appUrl, apiUrl].map((url) => `listen ${new URL(url).host};`);
  const plain = `listen 127.0.0.1:${await freePort()}`;
  return readFileSync(TEMPLATE, 'utf8')
    .replaceAll(/( {4}server [\d.]+:3000 .*\n)+/g, servers('appUrl'))
    .replaceAll(/( {4}server [\d.]+:3001 .*\n)+/g, servers('apiUrl'))
    .replaceAll(/^ssl_.*\n/gm, '')
    .replace(/^server \{\n.*default_server;\n.*ssl_reject_handshake on;\n(.*\n)*?\}\n/m, '')
    .replaceAll('listen 443 ssl;', () => listen.shift() ?? '')
    .replace('listen 80', plain)
    .replaceAll(/server_name .*;/g, '')
    .replaceAll('$scheme;', 'https;')
    .replaceAll('/var/log/nginx/', `${folder}/`);
}

/** Resolves when somebody listens at an address; rejects when the process that should ends, or takes too long. */
export async function untilListening(child: ChildProcess, url: string): Promise<void> {
  const start = performance.now();
  const { hostname, port } = new URL(url);
  for (;;) {
    const socket = net.connect(Number(port), hostname);
    const [what] = await Promise.race([once(socket, 'connect').then(() => ['up']), once(socket, 'error')]);
    socket.destroy();
    if (what === 'up') return;
    if (child.exitCode !== null || performance.now() - start > PATIENCE_MS) throw new Error('nobody listens');
    await sleep(20);
  }
}
