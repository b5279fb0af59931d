/** The stories of the last hours, which an operator finds open in the console. */
import { emptyTally } from '../../src/oauth/activity/app-tally.ts';
import { STORIES } from './cast.ts';
import { HOUR, MINUTE } from './clock.ts';
import {
  type App,
  allow,
  type Connection,
  exchange,
  presentRefreshToken,
  refresh,
  refreshEnded,
  use,
} from './connections.ts';
import { checkpoint, type History } from './history.ts';
import { type ActingOperator, signInOperator } from './operators.ts';
import { appNamed, byOperator } from './stories.ts';

/** The hours since an app fails. */
const FAILING_HOURS = 19;
/** Number of times that the app tries an exchange. */
const TRIES = 6;
/** The networks of a thief, and of a server of the failing app that nobody remembered. */
const THIEF = '198.51.100.77';
const FORGOTTEN_SERVER = '192.0.2.201';

/** Plans them. */
export function planToday(history: History): void {
  planFailures(history);
  planReplay(history);
  planLeak(history);
  const { installation, agenda, end } = history;
  agenda.at(end - 3 * HOUR - 4 * MINUTE, () =>
    signInOperator(installation, history.operators[2] as ActingOperator, 'Chrome on macOS'),
  );
  agenda.at(end - MINUTE, () => checkpoint(history));
}

/**
 * A deployment of the app went wrong: its exchanges name another redirect URI, each tried some times, it refreshes with tokens
 * of ended connections, and one of its servers has a mistyped secret.
 */
function planFailures(history: History): void {
  const { installation, agenda, chance, end, people } = history;
  const failing = () => appNamed(history, STORIES.failing);
  const wrongUri = 'https://app.halden.example/oauth/callback';
  for (let ago = FAILING_HOURS * HOUR; ago > 10 * MINUTE; ago -= chance.between(35, 90) * MINUTE) {
    agenda.at(end - ago, async () => {
      const app = failing();
      const allowed = await allow(history, app, chance.pick(people));
      for (let tried = 0; tried < TRIES; tried += 1)
        agenda.at(history.now() + 2000 + tried * 5000, () => exchange(history, app, allowed, wrongUri));
    });
  }
  for (let ago = FAILING_HOURS * HOUR; ago > 10 * MINUTE; ago -= chance.between(2, 5) * MINUTE)
    agenda.at(end - ago, () => refreshEnded(history, failing()));
  for (let hour = FAILING_HOURS - 1; hour >= 0; hour -= 1)
    agenda.at(end - hour * HOUR - 8 * MINUTE, async () => {
      const app = failing();
      const mistyped: App = { ...app, secret: `${app.secret?.slice(0, -1)}x`, server: FORGOTTEN_SERVER };
      await refreshEnded(history, mistyped);
      // More of them would be guesses, which are limited, within a moment of this clock.
      const tally = { ...emptyTally(), invalidClient: chance.around(12) };
      const counted = { clientId: app.client.id, at: history.now(), tally, failures: [] };
      await installation.operators.store.addActivity(counted, history.now());
    });
}

/** A stolen refresh token is used after the app has refreshed with it: the connection ends. */
function planReplay(history: History): void {
  const { agenda, end } = history;
  agenda.at(end - 6 * HOUR, async () => {
    const connection = lastOf(history, STORIES.replayed);
    const { refreshToken } = connection.tokens;
    await refresh(history, connection);
    agenda.at(end - 6 * HOUR + 3 * MINUTE, () => use(history, connection));
    agenda.at(end - 4 * HOUR - 30 * MINUTE, async () => {
      await presentRefreshToken(history, connection.app, refreshToken, THIEF);
      connection.isOver = true;
    });
  });
}

/** An access token stood in a public forum: support looks whose it is, and ends the connection. */
function planLeak(history: History): void {
  const { installation, agenda, end } = history;
  agenda.at(end - 3 * HOUR, async () => {
    const connection = lastOf(history, STORIES.leaked);
    const found = await installation.identification.identify(connection.tokens.refreshToken);
    if (!found?.grant) throw new Error('the leaked token is unknown');
    await installation.grants.revoke(connection.tokens.grant.grantId, byOperator(history, 2));
    connection.isOver = true;
  });
}

/** Returns a live refresh token of the app whose tokens stand in public places. */
export function leakedToken(history: History): string {
  return lastOf(history, STORIES.leaked).tokens.refreshToken;
}

/** The newest live connection of an app. */
function lastOf({ connections }: History, name: string): Connection {
  const found = connections.findLast(({ app, isOver }) => app.cast.name === name && !isOver);
  if (!found) throw new Error(`${name} has no connection`);
  return found;
}
