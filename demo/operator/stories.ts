/** The stories of the year: what operators changed, and what went wrong. */
import type { ClientSettings } from '../../src/oauth/clients/client.ts';
import type { WiredInstallation } from '../../src/wiring/installation.ts';
import { serverOf, settingsOf } from './apps.ts';
import { HANDED_OVER, STORIES } from './cast.ts';
import { HOUR, MINUTE } from './clock.ts';
import { type App, allow, connect, exchange } from './connections.ts';
import { dayAt, type History } from './history.ts';
import { type ActingOperator, actorOf, signInOperator } from './operators.ts';
import { requestFrom } from './people.ts';

/** Plans all of them. */
export function planStories(history: History): void {
  planRegistrations(history);
  planSecrets(history);
  planPauses(history);
  planPeople(history);
  planHandOver(history);
}

/** The app of a name. */
export function appNamed({ apps }: Pick<History, 'apps'>, name: string): App {
  const app = apps.find(({ cast }) => cast.name === name);
  if (!app) throw new Error(`${name} is not registered yet`);
  return app;
}

/** An act of one of the operators: the first is 0. */
export function byOperator({ operators }: History, place: number) {
  return actorOf(operators[place] as ActingOperator);
}

function planRegistrations(history: History): void {
  const { installation, agenda } = history;
  const on = (days: number, time: number, act: (installation: WiredInstallation) => Promise<unknown>) =>
    agenda.at(dayAt(history, days, time), () => act(installation));
  on(399, 9 * HOUR, ({ resourceServers }) =>
    resourceServers.register(
      { name: 'Files API', resource: 'https://files.valetkey.example', scopes: ['files:read', 'files:write'] },
      byOperator(history, 0),
    ),
  );
  on(390, 9 * HOUR, async ({ rootKeys, operator }) => {
    const earlier = (await rootKeys.list()).filter(({ status }) => status === 'earlier');
    for (const { keyId } of earlier) await rootKeys.retire(keyId, operator);
  });
  on(384, 9 * HOUR, ({ operatorRegistry }) => operatorRegistry.add('Kai Jensen', 'support', byOperator(history, 0)));
  on(96, 15 * HOUR, ({ operatorRegistry }) => operatorRegistry.disable('Kai Jensen', byOperator(history, 1)));
  on(190, 11 * HOUR, async ({ operatorRegistry, operator }) => {
    await operatorRegistry.add('Developer portal', 'support', operator);
    const rights = ['clients.read', 'status.read'] as const;
    await operatorRegistry.addKey('Developer portal', { name: 'portal', rights, lifetime: 365 * 24 * HOUR }, operator);
  });
  const change = (days: number, name: string, changes: Partial<ClientSettings>, operator: number) =>
    on(days, 14 * HOUR, async ({ clients }) => {
      const app = appNamed(history, name);
      app.client = await clients.update(app.client.id, changes, byOperator(history, operator));
    });
  const lumen = ['https://app.lumen.example/callback', 'https://eu.lumen.example/callback'];
  change(210, 'Lumen Calendar', { redirectUris: lumen }, 1);
  change(176, 'Fernway Travel', { contact: 'partners@fernway.example' }, 0);
  change(88, 'Beacon Alerts', { requirePkce: true }, 1);
}

function planSecrets(history: History): void {
  const idOf = (name: string) => appNamed(history, name).client.id;
  const { installation, agenda } = history;
  const { clients } = installation;
  const tidemark = 'Tidemark Backup';
  const rotate = async (name: string) => {
    const app = appNamed(history, name);
    return (await clients.rotateSecret(app.client.id, byOperator(history, 1))).secret;
  };
  agenda.at(dayAt(history, 191, 9 * HOUR), async () => {
    const secret = await rotate(tidemark);
    agenda.at(dayAt(history, 187, 13 * HOUR), async () => {
      appNamed(history, tidemark).secret = secret;
    });
  });
  agenda.at(dayAt(history, 180, 9 * HOUR), () => clients.retireSecret(idOf(tidemark), byOperator(history, 1)));
  // The app uses the new secret since 9 days, and nobody has retired the older one yet.
  agenda.at(dayAt(history, 13, 15 * HOUR), async () => {
    const secret = await rotate(STORIES.twoSecrets);
    agenda.at(history.end - 9 * 24 * HOUR, async () => {
      appNamed(history, STORIES.twoSecrets).secret = secret;
    });
  });
}

function planPauses(history: History): void {
  const idOf = (name: string) => appNamed(history, name).client.id;
  const { installation, agenda } = history;
  const { clients } = installation;
  agenda.at(dayAt(history, 171, 9 * HOUR), () => clients.pause(idOf('Fernway Travel'), byOperator(history, 2)));
  agenda.at(dayAt(history, 171, 11 * HOUR), () => clients.resume(idOf('Fernway Travel'), byOperator(history, 2)));
  agenda.at(dayAt(history, 12, 8 * HOUR), async () => {
    await signInOperator(installation, history.operators[2] as ActingOperator, 'Chrome on macOS');
    await clients.pause(idOf(STORIES.paused), byOperator(history, 2));
  });
}

/** Somebody lost a laptop: until that is cleared up, neither they nor their apps get in. */
async function disableAfterLoss(history: History, id: string): Promise<void> {
  const { installation, people, connections } = history;
  await installation.accounts.disable(id, byOperator(history, 2));
  people.splice(
    people.findIndex(({ account }) => account.id === id),
    1,
  );
  for (const connection of connections) if (connection.person.account.id === id) connection.isOver = true;
}

function planPeople(history: History): void {
  const { installation, agenda, chance, people } = history;
  const { accounts } = installation;
  const somebody = () => chance.pick(people).account.id;
  agenda.at(dayAt(history, 140, 10 * HOUR), async () => {
    const id = somebody();
    await accounts.disable(id, byOperator(history, 2));
    agenda.at(dayAt(history, 139, 9 * HOUR), () => accounts.enable(id, byOperator(history, 2)));
  });
  agenda.at(dayAt(history, 3, 15 * HOUR), () => disableAfterLoss(history, somebody()));
  agenda.at(dayAt(history, 70, 12 * HOUR), () => accounts.endSessions(somebody(), byOperator(history, 2)));
  for (const [days, wrong] of [
    [301, 6],
    [117, 9],
    [1, 14],
  ] as const)
    agenda.at(dayAt(history, days, 3 * HOUR + 20 * MINUTE), async () => {
      const id = somebody();
      for (let tries = 0; tries < wrong; tries += 1) installation.wrongSignIns.count(id);
      agenda.at(dayAt(history, days, 4 * HOUR), () => installation.wrongSignIns.writeEnded());
    });
  // A code that came twice: the app's proxy sent a request again.
  agenda.at(dayAt(history, 43, 13 * HOUR), async () => {
    const app = appNamed(history, 'Fernway Travel');
    const allowed = await allow(history, app, chance.pick(people));
    await exchange(history, app, allowed);
    agenda.at(dayAt(history, 43, 13 * HOUR) + 40_000, () => exchange(history, app, allowed));
  });
}

/** An app whose developer fetches the secret, and one whose developer has not done so yet. */
function planHandOver(history: History): void {
  const { installation, agenda, apps, people, connections } = history;
  const { clients, handOvers } = installation;
  const at = dayAt(history, HANDED_OVER.days, 10 * HOUR);
  agenda.at(at, async () => {
    const settings = settingsOf(HANDED_OVER);
    const { row: client, handOver } = await clients.register(
      'confidential',
      settings,
      byOperator(history, 0),
      null,
      true,
    );
    if (!handOver) throw new Error('nothing was handed over');
    const app: App = { cast: HANDED_OVER, client, secret: null, server: serverOf(apps.length) };
    agenda.at(at + 78 * MINUTE, async () => {
      const picked = await handOvers.pickUp(handOver.token, 'a browser', requestFrom(app.server));
      if (picked.kind !== 'picked_up') throw new Error('the secret was not fetched');
      const ready = { ...app, secret: picked.secret };
      apps.push(ready);
      const first = people.slice(0, 5); // The developer's friends, who try the app.
      for (const [place, person] of first.entries())
        agenda.at(at + (4 + place * 7) * HOUR, async () => connections.push(await connect(history, ready, person)));
    });
  });
  const waiting = { ...HANDED_OVER, name: 'Copper Payroll', host: 'copper' };
  agenda.at(history.end - 5 * HOUR, () =>
    clients.register('confidential', settingsOf(waiting), byOperator(history, 0), null, true),
  );
}
