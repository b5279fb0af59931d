/** The start page. */

import type { LastDay, RefusedApp } from '../../../../pages/operator/now/last-day.ts';
import { nowPage } from '../../../../pages/operator/now/now-page.ts';
import type { Service } from '../../../service/service.ts';
import type { ConsoleParts } from '../console-parts.ts';
import type { ConsoleRoutes } from '../console-routes.ts';
import { shownEvent } from '../shown-event.ts';

const HOUR_MS = 3_600_000;
const COUNTED_INCIDENTS = 1000;
/** Number of the newest incidents of each kind that are named. */
const NAMED_INCIDENTS = 3;

/** Adds the page. */
export function addNow(routes: ConsoleRoutes, { service, operators, accessOf }: ConsoleParts): void {
  const { lists, status } = service.operatorApi;

  routes.page('/', 'status.show', async (call) => {
    const { context, request } = call;
    const { operator, by } = accessOf(request);
    const [passkeys, state, apps, people] = await Promise.all([
      operators.store.listPasskeys(operator.id),
      status(),
      lists.clients({}, { limit: 1, after: undefined }),
      lists.users({}, { limit: 1, after: undefined }),
    ]);
    const hasApps = apps === null || apps.items.length > 0 || apps.next !== null;
    const steps = { mayRegister: call.may('clients.register'), hasApps, hasPeople: people?.items.length === 1 };
    const day = hasApps ? await lastDay(service) : null;
    return nowPage(context, { operator, how: by.how, passkeyCount: passkeys.length, state, steps, day });
  });
}

/** The 24 hours that end with the one that has just begun: the plot, the apps and the incidents are of the same time. */
async function lastDay({ operatorApi, clients, now }: Service): Promise<LastDay> {
  const to = now();
  const from = to - (to % HOUR_MS) - 23 * HOUR_MS;
  const { store } = operatorApi;
  const [tallies, refused, incidents, newest] = await Promise.all([
    operatorApi.appActivity.talliesOfAll(from),
    operatorApi.appActivity.mostRefused(),
    store.countIncidents(from, COUNTED_INCIDENTS + 1),
    store.listIncidents(from, NAMED_INCIDENTS).then((places) => store.listNamedAuditEventsAt(places)),
  ]);
  const named = refused.map(async ({ clientId: id, ...app }): Promise<RefusedApp> => {
    const client = await clients.findClient(id);
    return { ...app, id, name: client?.name ?? id, isFailing: app.isFailing && client?.status === 'active' };
  });
  return {
    activity: { span: 'hour', from, to, registeredAt: null, tallies },
    refused: await Promise.all(named),
    incidents,
    newest: newest.map(shownEvent),
    countedTo: COUNTED_INCIDENTS,
  };
}
