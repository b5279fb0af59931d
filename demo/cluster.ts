/** Many instances: three processes of the service on one PostgreSQL, behind a load balancer, on throw-away data. */
import type { AddressInfo } from 'node:net';
import { setTimeout as after } from 'node:timers/promises';
import { styleText } from 'node:util';
import { lineByLine, makeLogger } from '../src/process/log.ts';
import { stopSignal } from '../src/process/stop-signal.ts';
import { readConfiguration } from '../src/settings/configuration.ts';
import { openForCommand } from '../src/wiring/open-for-command.ts';
import { type BalancerEvent, SERVED_BY } from './cluster/balancer.ts';
import { type Cluster, startCluster } from './cluster/start.ts';
import { listenFrom, portsFrom } from './free-ports.ts';
import { call } from './headless/browser.ts';
import { printStep } from './headless/print.ts';
import { walk } from './headless/walk.ts';
import type { Step } from './headless/walker.ts';
import { runPostcards } from './postcards/server.ts';
import { type Seeded, seed } from './seed.ts';

/** Longer than a start, or a walk with its start, may take; and an end. */
const PATIENCE_MS = 60_000;
const END_PATIENCE_MS = 20_000;

const { stdout, stderr } = process;
const headless = process.argv.includes('--headless', 2);
if (process.argv.length > (headless ? 3 : 2)) {
  stderr.write('cluster: the only option is --headless\n');
  process.exit(2);
}
const deadline = setTimeout(giveUp, PATIENCE_MS).unref();
const stopping = new AbortController();
const stopped = stopSignal().then(() => {
  stopping.abort();
  setTimeout(giveUp, END_PATIENCE_MS).unref();
});
const exitCode = await runCluster().catch(async (error: unknown) => {
  await after(100); // Ctrl-C ends the parts as well, and may reach us after the news of that.
  if (stopping.signal.aborted) return headless ? 1 : 0;
  stderr.write(`cluster: ${(error as Error).message}\n`);
  return 1;
});
process.exit(exitCode); // Interrupted work may have left something open: do not wait for it.

/** Runs the demonstration, and returns the exit code: 1 when a headless walk met something unexpected, or was ended. */
async function runCluster(): Promise<number> {
  const ports = headless ? ([0, 0] as const) : ((await portsFrom(3000, 2)) as [number, number]);
  const cluster = await startCluster({ ports, signal: stopping.signal, tell: headless ? () => {} : printEvent });
  try {
    printParts(cluster);
    return headless ? await runHeadless(cluster) : await runInteractive(cluster);
  } finally {
    await cluster.stop();
    stderr.write('\nEnded. The throw-away database is gone.\n');
  }
}

async function runInteractive(cluster: Cluster): Promise<number> {
  const server = await listenFrom(Number(new URL(cluster.apiUrl).port) + 1);
  const redirectUri = `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`;
  const seeded = await unlessStopped(addPersonAndApp(cluster, redirectUri));
  clearTimeout(deadline);
  const { url, stop } = runPostcards(server, { appUrl: cluster.appUrl, apiUrl: cluster.apiUrl, ...seeded });
  stdout.write(`
  ${dim('Open')}      ${bold(url)}
  ${dim('Email')}     ${bold(seeded.email)}
  ${dim('Password')}  ${bold(seeded.password)}

  ${dim('Below is who answers what. Kill a process, and the others go on. Ctrl-C ends it all.')}

`);
  await stopped;
  await stop();
  return 0;
}

async function runHeadless(cluster: Cluster): Promise<number> {
  const { appUrl, apiUrl } = cluster;
  // Nothing listens there: the walk reads the address that the browser is sent to, and goes nowhere.
  const seeded = await unlessStopped(addPersonAndApp(cluster, 'http://127.0.0.1:8080/callback'));
  const walked = walk({ appUrl, apiUrl, ...seeded }, (step, number) => {
    stdout.write(step.ok ? stepLine(step, number) : printStep(step, number, stdout));
  });
  const steps = await unlessStopped(walked);
  if (!steps.every((step) => step.ok)) return 1;
  return (await allRefuse(cluster, steps)) ? 0 : 1;
}

/** The person took the access back at one instance; each of them must know. */
async function allRefuse({ instances }: Cluster, steps: readonly Step[]): Promise<boolean> {
  const refused = steps.find(({ response }) => response.status === 401) as Step;
  const refusals = new Set<string | undefined>();
  for (const _ of instances) {
    const { status, headers } = await call(refused.request);
    if (status === 401) refusals.add(headers[SERVED_BY]);
  }
  const ok = instances.every(({ name }) => refusals.has(name));
  const sentence = ok
    ? `All ${steps.length} steps went as expected, and what was taken back at one instance is refused by each.`
    : `What was taken back at one instance is refused only by ${[...refusals].join(', ')}.`;
  stdout.write(`\n${styleText(ok ? 'green' : 'red', sentence, { stream: stdout })}\n`);
  return ok;
}

/** Returns the work's result; throws if the program is told to end before it. */
function unlessStopped<T>(work: Promise<T>): Promise<T> {
  return Promise.race([work, stopped.then(() => Promise.reject(new Error('told to end')))]);
}

/** Adds them by the operator's own way, beside the instances. */
async function addPersonAndApp({ variables }: Cluster, redirectUri: string): Promise<Seeded> {
  const world = { logger: makeLogger(lineByLine(), Date.now), clock: Date.now };
  const { installation } = await openForCommand(readConfiguration(variables), world);
  try {
    return await seed(installation, redirectUri);
  } finally {
    await installation.close();
  }
}

/** At the exit everything that was started is killed, and what was written removed. */
function giveUp(): void {
  stderr.write('cluster: this takes too long: ending at once\n');
  process.exit(1);
}

function printParts({ appUrl, apiUrl, instances, variables }: Cluster): void {
  const rows = [
    ['balancer', `${appUrl} (app), ${apiUrl} (API)`],
    ...instances.map(({ name, pid, appUrl, apiUrl }) => [name, `${appUrl}, ${apiUrl}, process ${pid}`]),
    ['PostgreSQL', variables['VALETKEY_DATABASE_URL'] ?? ''],
  ];
  stdout.write(`\n${rows.map(([name = '', text]) => `  ${dim(name.padEnd(10))}  ${text}\n`).join('')}\n`);
}

function printEvent(event: BalancerEvent): void {
  const what = event.kind === 'answer' ? `${event.status}  ${event.method} ${event.path}` : event.kind;
  stdout.write(`  ${dim(event.name)}  ${what}\n`);
}

function stepLine({ name, response }: Step, number: number): string {
  return `  ${String(number).padStart(2)}  ${dim(response.headers[SERVED_BY] ?? '?')}  ${response.status}  ${name}\n`;
}

function bold(text: string): string {
  return styleText('bold', text, { stream: stdout });
}

function dim(text: string): string {
  return styleText('dim', text, { stream: stdout });
}
