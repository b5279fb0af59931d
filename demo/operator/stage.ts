/** Prepares a demonstration for operators: the service on a year of made-up history, and an address that signs an operator in. */
import { existsSync, rmSync } from 'node:fs';
import { appendFile, copyFile, mkdtemp } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { makeRootKey } from '../../src/settings/root-keys.ts';
import type { WiredInstallation } from '../../src/wiring/installation.ts';
import { PRODUCT_NAME, runProduct, SIGN_IN_PATH } from '../product/server.ts';
import { makePerson, registerApp, registerProduct, type SeededPerson, type SeededProduct } from '../seed.ts';
import { type Lent, type Stage, type StageParts, startOnPorts } from '../stage.ts';
import { SetClock } from './clock.ts';
import { beginningOf } from './history.ts';
import { writeHistory } from './year.ts';

/** The way to open an installation with another clock (ms since the epoch). */
export type LentAt = {
  readonly openAt: (variables: Record<string, string>, now: () => number) => Promise<WiredInstallation>;
};

/** The demo user was there from the beginning; the app that runs beside the service is registered today. */
export async function setOperatorStage({
  lent,
  redirectUri,
  listen,
  ...where
}: StageParts & { readonly lent: LentAt }): Promise<Stage> {
  const server = await listen();
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const person = makePerson();
  try {
    let written: WrittenYear | undefined;
    const running = await startOnPorts(where, async (variables) => {
      written = await writeQuickly(variables, (quick) => writeYear(lent, quick, person, origin + SIGN_IN_PATH));
      return lent.start({ ...variables, VALETKEY_SIGN_IN_METHODS: `password,${written.product.providerId}` });
    });
    if (!written) throw new Error('the service runs, and no history was written');
    const { operatorId, leakedToken, product } = written;
    const { installation, appUrl } = running;
    const registration = { ...product, appUrl };
    const stopProduct = runProduct(server, { origin, registration, people: [person], hear: () => {} });
    const seeded = { ...person, ...(await registerApp(installation, redirectUri)) };
    const { url } = await installation.operatorRegistry.signInAddress(operatorId, installation.operator);
    return {
      running,
      seeded,
      product: null,
      accounts: { name: 'Valetkey', appsUrl: `${appUrl}/account/apps` },
      console: { signInUrl: url, leakedToken },
      stop: async () => {
        await stopProduct();
        await running.stop();
      },
    };
  } catch (error) {
    server.close();
    throw error;
  }
}

/** The operator who signs in, the leaked token, and the registration of the product that runs. */
type WrittenYear = { readonly operatorId: string; readonly leakedToken: string; readonly product: SeededProduct };

/** Writes the history into a new installation. */
async function writeYear(
  lent: Lent & LentAt,
  variables: Record<string, string>,
  person: SeededPerson,
  signInUrl: string,
): Promise<WrittenYear> {
  const end = Date.now();
  const clock = new SetClock(beginningOf(end));
  // Founded now: the clean-up of a service that begins a year later would follow for a year.
  await (await lent.open(variables)).close();
  await rotateRootKey(() => lent.openAt(variables, clock.now), variables['VALETKEY_KEYS_FILE'] as string);
  const installation = await lent.openAt(variables, clock.now);
  try {
    const demo = await installation.accounts.add({ ...person, username: 'mira' }, installation.operator);
    const product = await registerProduct(installation, { id: 'tintype', name: PRODUCT_NAME, signInUrl });
    // Nothing answers there, and the settings do not name it: its test has findings.
    await registerProduct(installation, {
      id: 'bluebird',
      name: 'Bluebird Mail',
      signInUrl: 'https://accounts.bluebird.example/valetkey',
    });
    const { operator, leakedToken } = await writeHistory(installation, demo, clock, end);
    return { operatorId: operator.operator.id, leakedToken, product };
  } finally {
    await installation.close();
  }
}

/** Makes another root key current at the beginning of the history: the first one is as young as the installation. */
async function rotateRootKey(open: () => Promise<WiredInstallation>, keysFile: string): Promise<void> {
  await appendFile(keysFile, `${makeRootKey()}\n`);
  const { rootKeys, operator, close } = await open();
  const [announced] = await rootKeys.announced();
  if (announced === undefined) throw new Error('the new root key was not announced');
  await rootKeys.rotate(announced, () => {}, operator);
  await close();
}

/** Memory as a folder, on Linux. */
const MEMORY_FOLDER = '/dev/shm';

/**
 * Writes a database in memory where the system has a folder there, and then copies it to its place: each of thousands of writes
 * waits for its disk otherwise.
 */
async function writeQuickly<Result>(
  variables: Record<string, string>,
  write: (variables: Record<string, string>) => Promise<Result>,
): Promise<Result> {
  if (!existsSync(MEMORY_FOLDER)) return write(variables);
  const folder = await mkdtemp(join(MEMORY_FOLDER, 'valetkey-demo-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  process.once('exit', remove);
  try {
    const file = join(folder, 'demo.db');
    const result = await write({ ...variables, VALETKEY_DATABASE_URL: `sqlite:${file}` });
    await copyFile(file, (variables['VALETKEY_DATABASE_URL'] as string).replace(/^sqlite:/, ''));
    return result;
  } finally {
    process.off('exit', remove);
    remove();
  }
}
