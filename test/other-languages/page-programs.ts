/** Runs the programs of the developers' page as people do: copied from the page of a running service, with values filled in. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { type ExampleProgram, examplePrograms } from '../../src/pages/developers/developers-programs.ts';
import { addApp } from '../clients/registered.ts';
import { allow, type World } from '../clients/walk.ts';
import { Browser } from '../support/browser.ts';
import { REDIRECT_URI } from '../support/service.ts';
import { environment } from './walk.ts';

const MODULES = fileURLToPath(new URL('../../node_modules', import.meta.url));
/** The longest that one program may take, with Go's compiling; ms. */
const LONGEST_RUN = 180_000;

/** The programs with the addresses of a service. */
export function programsOf({ service: { appUrl, apiUrl } }: World): ExampleProgram[] {
  const [authorizationUrl, tokenUrl] = [`${appUrl}/oauth2/authorize`, `${appUrl}/oauth2/token`];
  return examplePrograms({ issuer: appUrl, authorizationUrl, tokenUrl, meUrl: `${apiUrl}/v2/me` });
}

/** The text of a program, as somebody copies it from the page. */
export async function copied({ service }: World, { name }: ExampleProgram): Promise<string> {
  const { body } = await new Browser().get(`${service.appUrl}/developers`);
  const [, shown] = body.split(`<summary>${name}</summary>`);
  const [, code = ''] = /<code>([^<]*)<\/code>/.exec(shown ?? '') ?? [];
  const named: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"', '#39': "'" };
  return code.replace(/&(lt|gt|amp|quot|#39);/g, (_, entity: string) => named[entity] ?? '');
}

/** Runs a copied program for Ada, who allows it. It must say whose account it is, and that it refreshed. */
export async function runProgram(world: World, program: ExampleProgram): Promise<void> {
  const { clientId, clientSecret } = await addApp(world.service);
  const folder = mkdtempSync(join(tmpdir(), 'valetkey-program-'));
  symlinkSync(MODULES, join(folder, 'node_modules'));
  writeFileSync(join(folder, program.file), await copied(world, program));
  const values = { CLIENT_ID: clientId, CLIENT_SECRET: clientSecret, REDIRECT_URI };
  const [command = '', ...options] = program.run.split(' ');
  const child = spawn(command === 'node' ? process.execPath : command, options, {
    cwd: folder,
    env: { ...environment, ...values },
    // A group of its own, so that what it started ends with it.
    detached: true,
  });
  const ended = once(child, 'exit');
  const kill = () => process.kill(-Number(child.pid), 'SIGKILL');
  const overdue = setTimeout(kill, LONGEST_RUN);
  const complaints = text(child.stderr);
  let said = '';
  let isBack = false;
  try {
    for await (const chunk of child.stdout.setEncoding('utf8')) {
      said += chunk;
      const [, address] = /^Open this address: (.*)\n/m.exec(said) ?? [];
      if (address === undefined || isBack) continue;
      isBack = true;
      child.stdin.end(`${await allow(world.browser, address)}\n`);
    }
    const [code] = await ended;
    assert.equal(code, 0, await complaints);
  } finally {
    clearTimeout(overdue);
    if (child.exitCode === null && child.signalCode === null) kill();
    rmSync(folder, { recursive: true });
  }
  assert.match(said, /Account: ada@example\.com$/m);
  assert.match(said, /^Refreshed: [Tt]rue$/m);
}
