/** The demonstration: the service on a throw-away database, somebody to sign in as, and an app that asks for access. */
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { styleText } from 'node:util';
import { anyPorts, listenFrom, portsFrom } from './free-ports.ts';
import { printStep, printSummary } from './headless/print.ts';
import { walkAtProduct } from './headless/product-walk.ts';
import { walk } from './headless/walk.ts';
import type { Tell } from './headless/walker.ts';
import { type LentAt, setOperatorStage } from './operator/stage.ts';
import { runPostcards } from './postcards/server.ts';
import { type Lent, type Stage, type StageParts, setProductStage, setStage } from './stage.ts';

/** How the demonstration runs, and what the program lends it. */
export type DemoOptions = Lent &
  LentAt & {
    /** Walks the flow by itself instead of waiting for a browser. */
    readonly headless: boolean;
    /** Has the accounts at a product, which signs its own people in. */
    readonly product: boolean;
    /** Opens the operators' console, on a year of made-up history. */
    readonly operator: boolean;
    /** Prints one JSON object. */
    readonly json: boolean;
    readonly stdout: NodeJS.WritableStream;
    readonly stderr: NodeJS.WritableStream;
    /** Resolves when the program is told to end. */
    readonly stopSignal: () => Promise<void>;
  };

/** Runs the demonstration, and returns the exit code: 1 when a headless walk met something unexpected, or was ended. */
export async function runDemo(options: DemoOptions): Promise<number> {
  // A closed terminal hangs up.
  const stopped = Promise.race([options.stopSignal(), once(process, 'SIGHUP').then(() => {})]);
  const directory = await mkdtemp(join(tmpdir(), 'valetkey-demo-'));
  const remove = () => rmSync(directory, { recursive: true, force: true });
  process.once('exit', remove); // a second, impatient signal ends the program at once
  const stageOf = options.product ? setProductStage : options.operator ? setOperatorStage : setStage;
  const set: SetStage = (parts) => stageOf({ lent: options, directory, ...parts });
  try {
    return options.headless ? await runHeadless(options, set, stopped) : await runInteractive(options, set, stopped);
  } finally {
    process.off('exit', remove);
    remove();
  }
}

type SetStage = (parts: Omit<StageParts, 'lent' | 'directory'>) => Promise<Stage>;

async function runInteractive(options: DemoOptions, set: SetStage, stopped: Promise<void>): Promise<number> {
  const server = await listenFrom(3002);
  const { port } = server.address() as AddressInfo;
  const stage = await set({
    pickPorts: () => portsFrom(3000, options.operator ? 3 : 2),
    listen: () => listenFrom(port + 1),
    redirectUri: `http://127.0.0.1:${port}/callback`,
  }).catch((error: unknown) => {
    server.close();
    throw error;
  });
  try {
    const { running, seeded, accounts } = stage;
    const postcards = runPostcards(server, { ...running, ...seeded }, accounts);
    options.stdout.write(options.json ? asJson(postcards.url, stage) : invitation(options, postcards.url, stage));
    await stopped;
    await postcards.stop();
  } finally {
    await stage.stop();
  }
  options.stderr.write('\nEnded. The throw-away database is gone.\n');
  return 0;
}

async function runHeadless(options: DemoOptions, set: SetStage, stopped: Promise<void>): Promise<number> {
  const { json, stdout } = options;
  const startedAt = performance.now();
  const stage = await set({
    pickPorts: () => anyPorts(2),
    listen: () => listenFrom(0),
    // Nothing listens there: the walk reads the address that the browser is sent to, and goes nowhere.
    redirectUri: 'http://127.0.0.1:8080/callback',
  });
  try {
    const { running, seeded, product } = stage;
    const { appUrl, apiUrl } = running;
    const route = { appUrl, apiUrl, ...seeded };
    const tell: Tell = (step, number) => void (json || stdout.write(printStep(step, number, stdout)));
    const walked = product ? walkAtProduct(route, product, tell) : walk(route, tell);
    const steps = await Promise.race([walked, stopped]);
    if (!steps) return 1;
    const ok = steps.every((step) => step.ok);
    const seconds = (performance.now() - startedAt) / 1000;
    const summary = JSON.stringify({ ok, ...addresses(stage), steps });
    stdout.write(json ? `${summary}\n` : printSummary(steps, seconds, stdout));
    return ok ? 0 : 1;
  } finally {
    await stage.stop();
  }
}

function invitation(options: DemoOptions, url: string, stage: Stage): string {
  const { stdout } = options;
  const { running, seeded, product, console } = stage;
  const bold = (text: string) => styleText('bold', text, { stream: stdout });
  const dim = (text: string) => styleText('dim', text, { stream: stdout });
  const { appName, email, password } = seeded;
  const about = product
    ? [
        `${appName} is a made-up app, and Tintype (${product.url}) a made-up product where you have an account. Valetkey`,
        `(${running.appUrl}) stands between them, and has no password of yours.`,
        '',
        `1. At ${appName}, press Connect: Tintype signs you in, and Valetkey asks whether ${appName} may.`,
        `2. In Tintype's settings you find ${appName} among your connected apps: disconnect it.`,
        `3. Back at ${appName}, check the token again: it is refused.`,
        '',
      ]
    : [`${appName} is a made-up app that asks for access to an account at Valetkey (${running.appUrl}).`];
  const open = console?.signInUrl ?? url;
  const app = console ? `  ${dim('App')}       ${bold(url)}\n` : '';
  const leaked = console ? `  ${dim('Leaked')}    ${bold(console.leakedToken)}\n` : '';
  const lines = [...(console ? ABOUT_OPERATOR : about), 'Ctrl-C ends it all, and removes the throw-away database.'];
  return `
  ${dim('Open')}      ${bold(open)}
${app}  ${dim('Email')}     ${bold(email)}
  ${dim('Password')}  ${bold(password)}
${leaked}
${lines.map((line) => (line === '' ? '\n' : `  ${dim(line)}\n`)).join('')}
`;
}

const ABOUT_OPERATOR = [
  'The first address signs you in as an operator: once, and in the next 5 minutes. The apps, the people and the year of',
  'history there are made up: one app fails, a refresh token was used twice, and the backup is late.',
  '',
  '1. At Leaks, paste the token above: it stood in a public forum.',
  '2. At the app, connect with the email and the password: you see it at Events.',
  '3. Look around without a passkey. Where an act asks for one, make one in this browser: it is gone with the demo.',
  '',
];

function asJson(url: string, stage: Stage): string {
  const { email, password } = stage.seeded;
  return `${JSON.stringify({ url, email, password, ...addresses(stage) })}\n`;
}

function addresses({ running, product, console }: Stage): Record<string, string> {
  return {
    app_url: running.appUrl,
    api_url: running.apiUrl,
    ...(product && { product_url: product.url }),
    ...(console && { sign_in_url: console.signInUrl, leaked_token: console.leakedToken }),
  };
}
