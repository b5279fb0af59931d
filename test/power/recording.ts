/** Records lives of an installation: founded, furnished, under load, killed and started again, and cut off from power. */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Lots, lots } from '../instances/effort.ts';
import type { Entry } from '../instances/history.ts';
import type { TestInstallation } from '../instances/instances.ts';
import { startLoad } from '../instances/load.ts';
import type { Person } from '../instances/recorder.ts';
import { signedInBrowser } from '../support/flow.ts';
import { type Lifetime, PASSWORD, REDIRECT_URI, type TestService } from '../support/service.ts';
import { type Contents, Disk } from './disk.ts';
import { operate } from './operator.ts';
import { PositionedRecorder } from './positioned-recorder.ts';
import { RecordedProgram } from './recorded-program.ts';
import { readTrace } from './trace.ts';

/** An installation with an app of the people in it, and another app for the operator to act on. */
type Installed = {
  readonly initial: Contents;
  readonly program: RecordedProgram;
  readonly recorders: readonly [loaded: PositionedRecorder, operated: PositionedRecorder];
  /** The first of them visits the operator's app, and the others make up the load. */
  readonly people: readonly [Person, ...Person[]];
};

/** What was recorded of a life. */
export type Recording = Pick<Installed, 'recorders' | 'people'> & {
  /** What the disk held before, safely. */
  readonly initial: Contents;
  readonly trace: Buffer;
  /** The position at which all was furnished, and the load began. */
  readonly furnished: number;
  /** When it ended, ms since the epoch. */
  readonly endedAt: number;
};

const PEOPLE = 7;
/** Processes kill themselves when they sync after so many records at most: those that found the installation, and then, under load. */
const FOUNDING_RECORDS = [12, 40, 100];
const [MIN_RECORDS, MAX_RECORDS] = [300, 3000];

/** At least so many are answered to the crowd of a life. */
const FEWEST_ALLOWS = 5;

/** The share of a life in which nobody but the operator acts. */
const QUIET = 0.25;

/** Records a life from its founding, with a load of so many ms. */
export async function record(t: Lifetime, seed: number, loadMs: number): Promise<Recording> {
  const draw = lots(seed);
  const initial: Contents = new Map();
  const program = await RecordedProgram.make(t, initial);
  for (const most of FOUNDING_RECORDS) {
    await program.serve(draw(most));
    await program.stop();
  }
  await program.serve();
  const [visitor, ...crowd] = await Promise.all(Array.from({ length: PEOPLE }, (_, index) => person(program, index)));
  const recorders = [await newRecorder(program, 'Loaded'), await newRecorder(program, 'Operated')] as const;
  await program.stop();
  return live({ initial, program, recorders, people: [visitor as Person, ...crowd] }, seed, loadMs);
}

/** Records what follows a power cut in another life, at some moment of its load: the same people and apps go on. */
export async function recordAfterCut(t: Lifetime, before: Recording, seed: number, loadMs: number): Promise<Recording> {
  const draw = lots(seed);
  const { position, initial } = cutUnderLoad(before, draw);
  const program = await RecordedProgram.make(t, initial);
  const [loaded, operated] = before.recorders.map(
    (recorder) =>
      new PositionedRecorder(recorder.client, recorder.api, () => program.position(), recorder.until(position)),
  ) as [PositionedRecorder, PositionedRecorder];
  return live({ initial, program, recorders: [loaded, operated], people: before.people }, seed, loadMs);
}

function cutUnderLoad({ initial, trace, furnished }: Recording, draw: Lots): { position: number; initial: Contents } {
  const moment = furnished + draw(trace.length - furnished);
  const disk = new Disk(initial);
  for (const record of readTrace(trace)) {
    disk.play(record);
    if (record.position >= moment) return { position: record.position, initial: disk.cut(draw) };
  }
  throw new Error('the recording has no such moment');
}

/**
 * People and an app live on the service while it dies again and again, and an operator acts; at last alone, so that
 * nobody else's syncs cover what a command wrote.
 */
async function live(installed: Installed, seed: number, loadMs: number): Promise<Recording> {
  const { initial, program, recorders, people } = installed;
  const [loaded, operated] = recorders;
  const [visitor, ...crowd] = people;
  const furnished = program.position();
  const draw = lots(seed);
  const serve = () => program.serve(MIN_RECORDS + draw(MAX_RECORDS));
  await serve();
  const ending = new AbortController();
  const over = ending.signal;
  const isOver = once(over, 'abort');
  const installation = { instances: [program], recorder: loaded, people: crowd, shared: {} };
  const load = startLoad(installation as unknown as TestInstallation<RecordedProgram>, seed);
  const crowdLeaves = Promise.all([sleep(loadMs * (1 - QUIET)), someAnswers(loaded)]).then(() => load.stop());
  const lifeEnds = crowdLeaves.then(() => sleep(loadMs * QUIET)).then(() => ending.abort());
  const operating = operate({ program, recorder: operated, visitor, loaded, crowd, draw, over });
  while (!over.aborted) {
    await Promise.race([program.ended(), isOver]);
    if (!over.aborted) await serve();
  }
  await Promise.all([lifeEnds, operating]);
  await program.stop();
  return { initial, trace: program.trace(), recorders, people, furnished, endedAt: Date.now() };
}

/** Where the machine is busy, what a cut is held against takes longer than the load. */
async function someAnswers({ entries }: PositionedRecorder): Promise<void> {
  const before = entries.length;
  const isAllowed = ({ kind, outcome }: Entry) => kind === 'allow' && outcome === 'done';
  while (entries.slice(before).filter(isAllowed).length < FEWEST_ALLOWS) await sleep(20);
}

async function person(program: RecordedProgram, index: number): Promise<Person> {
  const email = `person${index}@example.com`;
  const add = ['user', 'add', '--email', email, '--name', `Person ${index}`, '--password-stdin'];
  const { id } = await program.json(add, PASSWORD);
  return { accountId: String(id), email, browser: await signedInBrowser(program as unknown as TestService, email) };
}

async function newRecorder(program: RecordedProgram, name: string): Promise<PositionedRecorder> {
  const client = await program.json(['client', 'register', '--name', name, '--redirect-uri', REDIRECT_URI]);
  const api = await program.json(['resource-server', 'register', '--name', `API of ${name}`]);
  return new PositionedRecorder(
    { clientId: String(client['client_id']), clientSecret: String(client['client_secret']) },
    { id: String(api['resource_server_id']), secret: String(api['resource_server_secret']) },
    () => program.position(),
  );
}
