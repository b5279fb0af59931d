/**
 * A year of made-up history, written by the service's own operations while a clock of its own runs from day to day. It is
 * the same in each run, but for the ids and secrets.
 */
import type { PasswordAccount } from '../../src/accounts/people/account.ts';
import { FAILURES_KEPT_MS } from '../../src/oauth/activity/app-failure.ts';
import type { WiredInstallation } from '../../src/wiring/installation.ts';
import { Agenda } from './agenda.ts';
import { registerApp } from './apps.ts';
import { APPS, SCOPES, STORIES } from './cast.ts';
import { Chance } from './chance.ts';
import { DAY, HOUR, MINUTE, type SetClock } from './clock.ts';
import { type App, type Connection, connect, deny, disconnect, refresh, refreshEnded, use } from './connections.ts';
import { checkpoint, DAYS, dayAt, type History } from './history.ts';
import { type ActingOperator, actorOf, addOperators } from './operators.ts';
import { addPerson, names, type Person, signIn } from './people.ts';
import { calls, weekdayFactor } from './rhythm.ts';
import { planStories } from './stories.ts';
import { leakedToken, planToday } from './today.ts';

/** Days after which an app refreshes a connection that is not used much: before its refresh token expires. */
const REFRESH_AFTER = 24 * DAY;
/** The lives of a connection and of an unused refresh token, an hour less than the service's defaults. */
const LONGEST = 365 * DAY - HOUR;
const LONGEST_UNUSED = 30 * DAY - HOUR;
/** Days in which each failure is kept, with its cause: those are real, and earlier ones are only counted. */
const FAILURES_KEPT_DAYS = FAILURES_KEPT_MS / DAY;
/** Days ago since which backups are made each night, and since which none is made: nobody has noticed that yet. */
const NIGHTLY_BACKUPS = 60;
const LAST_BACKUP = 3;
/** The first of the days whose hours are told apart. */
const HOURLY = 2;
/** Days ago from which an app of a story has no calls any more. */
const SILENT_SINCE: Readonly<Record<string, number>> = { [STORIES.dormant]: 152, [STORIES.paused]: 12 };

/**
 * Writes the history up to a moment (ms), into an installation that was opened with the clock. `demo` is the account of the
 * demo user. Returns the operator who signs in, and a live token that somebody found.
 */
export async function writeHistory(
  installation: WiredInstallation,
  demo: Pick<PasswordAccount, 'password'>,
  clock: SetClock,
  end: number,
): Promise<{ readonly operator: ActingOperator; readonly leakedToken: string }> {
  const operators = await addOperators(installation);
  const parts = { installation, clock, now: clock.now, chance: new Chance(20), agenda: new Agenda(clock), end };
  const history: History = { ...parts, operators, apps: [], people: [], connections: [] };
  await defineScopes(history);
  for (const cast of APPS) history.agenda.at(dayAt(history, cast.days, 10 * HOUR), () => registerApp(history, cast));
  planStories(history);
  planToday(history);
  const next = names(history.chance);
  for (let day = DAYS; day >= 0; day -= 1) {
    planDay(history, demo, next, day);
    await history.agenda.runUntil(Math.min(dayAt(history, day - 1, 0), end));
    await countDay(history, day);
  }
  clock.set(end);
  await installation.activity.flush();
  return { operator: operators[0] as ActingOperator, leakedToken: leakedToken(history) };
}

async function defineScopes({ installation, operators: [first] }: History): Promise<void> {
  for (const [name, [en, effect]] of Object.entries(SCOPES))
    await installation.scopes.define(name, { en }, actorOf(first as ActingOperator), effect);
}

/** Plans what people and apps do on a day by themselves: more of it each month, and less at weekends. */
function planDay(history: History, demo: Pick<PasswordAccount, 'password'>, next: Iterator<string>, day: number): void {
  const { chance, agenda } = history;
  const growth = 1 - day / DAYS;
  const factor = weekdayFactor(dayAt(history, day, 0));
  const sometime = () => dayAt(history, day, chance.between(6 * HOUR, 20 * HOUR));
  for (let more = chance.around((0.5 + 1.2 * growth) * factor); more > 0; more -= 1) {
    const at = sometime();
    const name = next.next().value as string;
    agenda.at(at, () => join(history, demo, name, at));
  }
  for (let more = chance.around((1 + 1.8 * growth) * factor); more > 0; more -= 1)
    agenda.at(sometime(), async () => history.people.length > 0 && choose(history, chance.pick(history.people)));
  for (let more = chance.around(2.5 * growth * factor); more > 0; more -= 1) agenda.at(sometime(), () => look(history));
  for (const connection of live(history))
    if (chance.happens(factor / 420)) agenda.at(sometime(), () => end(history, connection));
  if (day < FAILURES_KEPT_DAYS)
    for (const app of history.apps)
      if (!isSilent(app, day) && chance.happens(0.12 * factor)) agenda.at(sometime(), () => refreshEnded(history, app));
  if (day <= HOURLY) planUses(history, day);
  else agenda.at(dayAt(history, day, 21 * HOUR), () => refreshDue(history, day));
  if (day > LAST_BACKUP && (day < NIGHTLY_BACKUPS || day % 7 === 3))
    agenda.at(dayAt(history, day, 2 * HOUR + 10 * MINUTE), () => backUp(history));
  if (day % 7 === 4) agenda.at(dayAt(history, day, 5 * HOUR), () => checkpoint(history));
}

async function join(history: History, demo: Pick<PasswordAccount, 'password'>, name: string, at: number) {
  const { installation, operators, chance, agenda, people } = history;
  const source = `${chance.pick(['198.51.100', '203.0.113'])}.${Math.floor(chance.between(2, 254))}`;
  const operator = chance.pick(operators.slice(0, 2));
  const person = await addPerson(installation, demo, { name, source, at }, actorOf(operator));
  people.push(person);
  const first = Math.floor(chance.between(0, 4));
  for (let app = 1; app <= first; app += 1)
    agenda.at(at + app * chance.between(2, 40) * MINUTE, () => choose(history, person));
}

/** Somebody looks at an app, which may be one that they have already, and mostly allows it. */
async function choose(history: History, person: Person): Promise<void> {
  const { chance, apps, connections, end: until, now } = history;
  const daysAgo = (until - now()) / DAY;
  const open = apps.filter((app) => !isSilent(app, daysAgo - 4));
  const app = chance.weighted(open, ({ cast }) => cast.share);
  if (!app) return;
  if (connections.some((each) => !each.isOver && each.app === app && each.person === person)) return;
  if (chance.happens(0.09) && app.cast.kind !== 'device') return deny(history, app, person);
  connections.push(await connect(history, app, person));
}

/** Somebody signs in, for a look at the connected apps. */
async function look({ installation, people, chance, now }: History): Promise<void> {
  if (people.length > 0) await signIn(installation, chance.pick(people), now());
}

async function end(history: History, connection: Connection): Promise<void> {
  if (!connection.isOver) await disconnect(history, connection);
}

/** Refreshes what would expire, and for each app one connection more: its secret is in use now, or was on its last day. */
async function refreshDue(history: History, day: number): Promise<void> {
  const { chance, now } = history;
  const inUse = live(history).filter(({ app }) => !isSilent(app, day));
  const due = inUse.filter((each) => now() - each.issuedAt > REFRESH_AFTER);
  const isShown = (app: App) => day <= 45 || isSilent(app, day - 1);
  const daily = [...Map.groupBy(inUse, ({ app }) => app)].flatMap(([app, each]) =>
    isShown(app) ? [chance.pick(each)] : [],
  );
  await Promise.all([...new Set([...due, ...daily])].map((each) => refreshAndUse(history, each)));
  await history.installation.activity.flush();
}

/** Spreads the last uses of the connections over the day. */
function planUses(history: History, day: number): void {
  const { chance, agenda } = history;
  for (const each of live(history)) {
    if (isSilent(each.app, day) || !chance.happens(0.4)) continue;
    const quarter = Math.floor(chance.between(5 * 4, 23 * 4)) * 15 * MINUTE;
    agenda.at(dayAt(history, day, quarter + chance.between(0, 15 * MINUTE)), async () => {
      if (live(history).includes(each)) await refreshAndUse(history, each);
    });
  }
  for (let hour = 0; hour < 24; hour += 1)
    agenda.at(dayAt(history, day, (hour + 1) * HOUR - 1), () => history.installation.activity.flush());
}

async function refreshAndUse(history: History, connection: Connection): Promise<void> {
  await refresh(history, connection);
  await use(history, connection);
}

/** Counts the apps' calls of a day, which are too many to be made one by one. */
async function countDay(history: History, day: number): Promise<void> {
  const { installation, chance, apps, end: until, now } = history;
  await installation.activity.flush();
  const perApp = Map.groupBy(live(history), ({ app }) => app);
  const counted = apps.flatMap((app) => {
    if (isSilent(app, day)) return [];
    const about = { clientId: app.client.id, cast: app.cast, connections: perApp.get(app)?.length ?? 0 };
    const isLongAgo = day >= FAILURES_KEPT_DAYS;
    if (day > HOURLY) return [calls(chance, { ...about, isLongAgo }, dayAt(history, day, 0), DAY)];
    const hours = Array.from({ length: 24 }, (_, hour) => dayAt(history, day, hour * HOUR));
    return hours.filter((at) => at < until).map((at) => calls(chance, { ...about, isLongAgo }, at, HOUR));
  });
  await Promise.all(counted.map((each) => installation.operators.store.addActivity(each, now())));
}

async function backUp({ installation, operators }: History): Promise<void> {
  await installation.backups.note('a copy of the volume', actorOf(operators[1] as ActingOperator));
}

/** The connections that are not over; those whose refresh token has expired are over from now on. */
function live({ connections, now }: History): Connection[] {
  for (const each of connections)
    each.isOver ||= now() > Math.min(each.since + LONGEST, each.issuedAt + LONGEST_UNUSED);
  return connections.filter(({ isOver }) => !isOver);
}

/** True if a story has ended the calls of an app by a day. */
function isSilent({ cast }: App, daysAgo: number): boolean {
  return daysAgo <= (SILENT_SINCE[cast.name] ?? -1);
}
