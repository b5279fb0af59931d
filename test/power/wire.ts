/** Judges a power cut from outside: a service is started on what the disk held, and asked for everything that was answered. */
import { type Entry, violations } from '../instances/history.ts';
import type { TestInstallation } from '../instances/instances.ts';
import { sweep } from '../instances/load.ts';
import { Recorder } from '../instances/recorder.ts';
import { type Lifetime, startTestService, type TestService } from '../support/service.ts';
import type { PositionedRecorder } from './positioned-recorder.ts';
import type { Recording } from './recording.ts';

/** What contradicts the promises, and how much was asked to find out. */
type Verdict = { readonly wrong: readonly string[]; readonly asked: number };

/** The service that was recorded was down whenever it did not answer. */
const DOWN: Entry<'down'> = {
  kind: 'down',
  instance: 'recorded',
  started: 0,
  ended: Number.POSITIVE_INFINITY,
  outcome: 'done',
  detail: '',
};

/** Judges what clients are answered when the power failed at a position and the variables name what was left. */
export async function askAfterwards(
  t: Lifetime,
  { recorders, people, endedAt }: Recording,
  position: number,
  variables: Record<string, string>,
): Promise<Verdict> {
  const service = await startTestService(t, { ...variables, VALETKEY_CODE_TTL: '600' });
  service.clock.advance((endedAt - service.clock.now()) / 1000);
  const verdicts: Verdict[] = [];
  for (const recorder of recorders) verdicts.push(await judge(service, recorder, position, people));
  await service.stop();
  return {
    wrong: verdicts.flatMap(({ wrong }) => wrong),
    asked: verdicts.reduce((sum, { asked }) => sum + asked, 0),
  };
}

async function judge(
  service: TestService,
  recorded: PositionedRecorder,
  position: number,
  people: Recording['people'],
): Promise<Verdict> {
  const recorder = new Recorder(recorded.client, recorded.api);
  const before = [DOWN, ...recorded.until(position)];
  recorder.entries.push(...before);
  const instance = { ...service, name: 'restarted' };
  const installation = { instances: [instance], recorder, people, shared: {} };
  await sweep(installation as unknown as TestInstallation<typeof instance>, position);
  // Last, since it ends their grants: no code is good for a second pair.
  for (const entry of before)
    if (entry.kind === 'exchange' && entry.pair !== null) await recorder.exchange(instance, entry.code);
  return { wrong: violations(recorder.entries), asked: recorder.entries.length - before.length };
}
