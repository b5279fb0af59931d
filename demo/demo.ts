/** The demonstration: the service on a throw-away database, somebody to sign in as, and an app that asks for access. */
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { styleText } from 'node:util';
import type { RunningService } from '../src/main.ts';
import { anyPorts, listenFrom, portsFrom } from './free-ports.ts';
import { printStep, printSummary } from './headless/print.ts';
import { walk } from './headless/walk.ts';
import { runPostcards } from './postcards/server.ts';
import { type Seeded, seed } from './seed.ts';

/** How the demonstration runs, and what the program lends it. */
export type DemoOptions = {
  /** Walks the flow by itself instead of waiting for a browser. */
  readonly headless: boolean;
  /** Prints one JSON object. */
  readonly json: boolean;
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
  /** Starts the service with these variables. */
  readonly start: (variables: Record<string, string>) => Promise<RunningService>;
  /** Resolves when the program is told to end. */
  readonly stopSignal: () => Promise<void>;
};

/** The service with its demo user and its demo app. */
type Stage = { readonly running: RunningService; readonly seeded: Seeded };

/** Runs the demonstration, and answers the exit code: 1 when a headless walk met something unexpected, or was ended. */
export async function runDemo(options: DemoOptions): Promise<number> {
  // A closed terminal hangs up.
  const stopped = Promise.race([options.stopSignal(), once(process, 'SIGHUP').then(() => {})]);
  const directory = await mkdtemp(join(tmpdir(), 'valetkey-demo-'));
  const remove = () => rmSync(directory, { recursive: true, force: true });
  process.once('exit', remove); // a second, impatient signal ends the program at once
  try {
    return options.headless
      ? await runHeadless(options, directory, stopped)
      : await runInteractive(options, directory, stopped);
  } finally {
    process.off('exit', remove);
    remove();
  }
}

async function runInteractive(options: DemoOptions, directory: string, stopped: Promise<void>): Promise<number> {
  const running = await startOnPorts(options, directory, () => portsFrom(3000, 2));
  try {
    const server = await listenFrom(Number(new URL(running.apiUrl).port) + 1);
    const redirectUri = `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`;
    const stage = { running, seeded: await seed(running.installation, redirectUri) };
    const postcards = runPostcards(server, { ...running, ...stage.seeded });
    options.stdout.write(options.json ? asJson(postcards.url, stage) : invitation(options, postcards.url, stage));
    await stopped;
    await postcards.stop();
  } finally {
    await running.stop();
  }
  options.stderr.write('\nEnded. The throw-away database is gone.\n');
  return 0;
}

async function runHeadless(options: DemoOptions, directory: string, stopped: Promise<void>): Promise<number> {
  const { json, stdout } = options;
  const startedAt = performance.now();
  const running = await startOnPorts(options, directory, () => anyPorts(2));
  try {
    const { appUrl, apiUrl } = running;
    // Nothing listens there: the walk reads the address that the browser is sent to, and goes nowhere.
    const seeded = await seed(running.installation, 'http://127.0.0.1:8080/callback');
    const walked = walk({ appUrl, apiUrl, ...seeded }, (step, number) => {
      if (!json) stdout.write(printStep(step, number, stdout));
    });
    const steps = await Promise.race([walked, stopped]);
    if (!steps) return 1;
    const ok = steps.every((step) => step.ok);
    const seconds = (performance.now() - startedAt) / 1000;
    const summary = JSON.stringify({ ok, app_url: appUrl, api_url: apiUrl, steps });
    stdout.write(json ? `${summary}\n` : printSummary(steps, seconds, stdout));
    return ok ? 0 : 1;
  } finally {
    await running.stop();
  }
}

/** Starts the service on two ports; picks them anew where somebody else was faster. */
async function startOnPorts(
  { start }: DemoOptions,
  directory: string,
  pick: () => Promise<number[]>,
): Promise<RunningService> {
  for (let tries = 1; ; tries++) {
    const [app, api] = await pick();
    try {
      return await start({
        VALETKEY_APP_URL: `http://localhost:${app}`,
        VALETKEY_API_URL: `http://localhost:${api}`,
        VALETKEY_DATABASE_URL: `sqlite:${join(directory, 'demo.db')}`,
        VALETKEY_KEYS_FILE: join(directory, 'keys'),
      });
    } catch (error) {
      if (tries === 10 || (error as Error).name !== 'InstallationError') throw error;
    }
  }
}

function invitation({ stdout }: DemoOptions, url: string, { running, seeded }: Stage): string {
  const bold = (text: string) => styleText('bold', text, { stream: stdout });
  const dim = (text: string) => styleText('dim', text, { stream: stdout });
  return `
  ${dim('Open')}      ${bold(url)}
  ${dim('E-mail')}    ${bold(seeded.email)}
  ${dim('Password')}  ${bold(seeded.password)}

  ${dim(`${seeded.appName} is a made-up app that asks for access to an account at Valetkey (${running.appUrl}).`)}
  ${dim('Ctrl-C ends it all, and removes the throw-away database.')}

`;
}

function asJson(url: string, { running, seeded }: Stage): string {
  const { email, password } = seeded;
  return `${JSON.stringify({ url, email, password, app_url: running.appUrl, api_url: running.apiUrl })}\n`;
}
