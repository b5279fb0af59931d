/**
 * An operator at work while the service lives and dies: each act is a command, in a process of its own that writes beside
 * the service, and sometimes kills itself in the middle.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { RevocationNotice } from '../../src/oauth/resource-servers/revocation-notice.ts';
import { type Lots, pick } from '../instances/effort.ts';
import { grantIdOf, type Pair } from '../instances/history.ts';
import type { Person, Recorder } from '../instances/recorder.ts';
import { signIn } from '../support/flow.ts';
import type { TestService } from '../support/service.ts';
import type { RecordedProgram } from './recorded-program.ts';

/** What an operator has to act on: an app and a visitor of their own, and those of a load. */
export type Operated = {
  readonly program: RecordedProgram;
  readonly recorder: Recorder;
  readonly visitor: Person;
  /** What the load asks of the other app, and who makes it up. */
  readonly loaded: Recorder;
  readonly crowd: readonly Person[];
  readonly draw: Lots;
  readonly over: AbortSignal;
};

const PAUSE_MS = 20;
/** A command that kills itself does so after so many records at most. */
const RECORDS = 40;

/** Acts until it is over, each time on a fresh grant. */
export async function operate(operated: Operated): Promise<void> {
  const { recorder, program, draw, over } = operated;
  // The power may have failed in the middle of an act.
  await resumeApp(operated);
  await resumeVisitor(operated);
  for (; !over.aborted; await sleep(draw(PAUSE_MS))) {
    const pair = await newPair(operated);
    if (!pair) continue;
    await pick(draw, ACTS)(operated, pair);
    await recorder.check(program, pair.accessToken);
  }
}

type Act = (operated: Operated, pair: Pair) => Promise<unknown>;

const ACTS: readonly Act[] = [
  async (operated, pair) => {
    const { clientId } = operated.recorder.client;
    await command(operated, 'suspend', { clientId }, ['client', 'pause', clientId]);
    await operated.recorder.check(operated.program, pair.accessToken);
    await resumeApp(operated);
  },
  async (operated, pair) => {
    const { accountId: resourceOwnerId, email } = operated.visitor;
    await command(operated, 'suspend', { resourceOwnerId }, ['user', 'disable', email]);
    await operated.recorder.check(operated.program, pair.accessToken);
    await resumeVisitor(operated);
  },
  (operated) => {
    const { clientId } = operated.recorder.client;
    return command(operated, 'revoke', { clientId }, ['client', 'revoke-grants', clientId, '--yes']);
  },
  (operated, { refreshToken }) => {
    const grantId = grantIdOf(refreshToken);
    return command(operated, 'revoke', { grantId }, ['grant', 'revoke', grantId, '--yes']);
  },
  // In the middle of what people do with the app of the load: rows that a restarted service clears away.
  (operated) => {
    const { loaded: recorder, crowd, draw } = operated;
    const { accountId: resourceOwnerId } = pick(draw, crowd);
    const revoke = ['user', 'revoke-grants', resourceOwnerId, '--yes'];
    return command({ ...operated, recorder }, 'revoke', { resourceOwnerId }, revoke);
  },
  (operated) => {
    const { loaded: recorder } = operated;
    const { clientId } = recorder.client;
    return command({ ...operated, recorder }, 'revoke', { clientId }, ['client', 'revoke-grants', clientId, '--yes']);
  },
];

function resumeApp(operated: Operated): Promise<void> {
  const { clientId } = operated.recorder.client;
  return command(operated, 'resume', { clientId }, ['client', 'resume', clientId]);
}

/** Enables the account again, and signs in, since disabling it ended the session. */
async function resumeVisitor(operated: Operated): Promise<void> {
  const { over, program, visitor } = operated;
  const { accountId: resourceOwnerId, email, browser } = visitor;
  await command(operated, 'resume', { resourceOwnerId }, ['user', 'enable', email]);
  const enter = () => {
    browser.cookies.clear();
    return signIn(program as unknown as TestService, browser, email).catch(() => null);
  };
  while (!over.aborted && (await enter())?.status !== 303) await sleep(PAUSE_MS);
}

async function newPair({ recorder, visitor, program }: Operated): Promise<Pair | null> {
  const allowed = await recorder.allow(visitor, program);
  return allowed.kind === 'allow' && allowed.code ? (await recorder.exchange(program, allowed.code)).pair : null;
}

/** Runs a command and records it. What is suspended must be resumed, so that only other commands may kill themselves. */
async function command(
  { recorder, program, draw, over }: Operated,
  kind: 'suspend' | 'resume' | 'revoke',
  whose: RevocationNotice,
  words: string[],
): Promise<void> {
  // A command that is alone with the database leaves all of it on the disk, and nothing to recover.
  const isPatient = draw(4) > 0;
  while (isPatient && !program.isServing && !over.aborted) await sleep(PAUSE_MS);
  const killAfter = kind === 'resume' || draw(3) > 0 ? null : draw(RECORDS);
  await recorder.record(program, { kind, whose }, async () => {
    const { code, stderr } = await program.run(words, '', killAfter);
    const outcome = code === 0 ? 'done' : code === null ? 'lost' : code === 1 ? 'refused' : 'broken';
    return { outcome, detail: stderr };
  });
}
