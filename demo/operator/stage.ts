/** Prepares a demonstration for operators: the service on a year of made-up history, and an address that signs an operator in. */
import { existsSync, rmSync } from 'node:fs';
import { copyFile, mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import type { WiredInstallation } from '../../src/installation.ts';
import { makePerson, registerApp, type SeededPerson } from '../seed.ts';
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
  ...where
}: StageParts & { readonly lent: LentAt }): Promise<Stage> {
  const person = makePerson();
  let operatorId = '';
  const running = await startOnPorts(where, async (variables) => {
    operatorId = await writeQuickly(variables, (quick) => writeYear(lent, quick, person));
    return lent.start(variables);
  });
  const { installation, appUrl } = running;
  const seeded = { ...person, ...(await registerApp(installation, redirectUri)) };
  const { url } = await installation.operatorRegistry.signInAddress(operatorId, installation.operator);
  const accounts = { name: 'Valetkey', appsUrl: `${appUrl}/account/apps` };
  return { running, seeded, accounts, product: null, signInUrl: url, stop: running.stop };
}

/** Writes the history into a new installation, and returns the id of the operator who signs in. */
async function writeYear(
  lent: Lent & LentAt,
  variables: Record<string, string>,
  person: SeededPerson,
): Promise<string> {
  const end = Date.now();
  const clock = new SetClock(beginningOf(end));
  // Founded now: the clean-up of a service that begins a year later would follow for a year.
  await (await lent.open(variables)).close();
  const installation = await lent.openAt(variables, clock.now);
  try {
    const demo = await installation.accounts.add({ ...person, username: 'mira' }, installation.operator);
    return (await writeHistory(installation, demo, clock, end)).operator.id;
  } finally {
    await installation.close();
  }
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
