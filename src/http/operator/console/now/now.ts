/** The start page. */

import type { FailingApp, LastDay } from '../../../../pages/operator/now/last-day.ts';
import { type FirstSteps, nowPage } from '../../../../pages/operator/now/now-page.ts';
import type { Service } from '../../../service.ts';
import type { ConsoleParts } from '../console-parts.ts';
import type { ConsoleCall, ConsoleRoutes } from '../console-routes.ts';

const HOUR_MS = 3_600_000;
const MOST_FAILING = 5;
const COUNTED_INCIDENTS = 1000;

/** Adds the page. */
export function addNow(routes: ConsoleRoutes, { service, operators, accessOf }: ConsoleParts): void {
  const { lists, status } = service.operatorApi;

  routes.page('/', 'status.show', async (call) => {
    const { context, operator, request } = call;
    const [passkeys, state, apps] = await Promise.all([
      operators.store.listPasskeys(operator.id),
      status(),
      lists.clients({}, { limit: 1, after: undefined }),
    ]);
    const content =
      apps?.items.length === 0 && apps.next === null
        ? ({ kind: 'steps', steps: await firstSteps(service, call) } as const)
        : ({ kind: 'day', day: await lastDay(service) } as const);
    const { how } = accessOf(request).by;
    return nowPage(context, { operator, how, passkeyCount: passkeys.length, state, content });
  });
}

async function firstSteps({ operatorApi }: Service, { may }: ConsoleCall): Promise<FirstSteps> {
  const people = await operatorApi.lists.users({}, { limit: 1, after: undefined });
  return { mayRegister: may('clients.register'), hasPeople: people?.items.length === 1 };
}

/** The 24 hours that end with the one that has just begun: the plot, the apps and the incidents are of the same time. */
async function lastDay({ operatorApi, clients, now }: Service): Promise<LastDay> {
  const to = now();
  const from = to - (to % HOUR_MS) - 23 * HOUR_MS;
  const [tallies, failing, incidents] = await Promise.all([
    operatorApi.appActivity.talliesOfAll(from),
    operatorApi.appActivity.mostFailing(from, MOST_FAILING),
    operatorApi.store.countIncidents(from, COUNTED_INCIDENTS + 1),
  ]);
  const named = failing.map(async ({ clientId, failures }): Promise<FailingApp> => {
    const client = await clients.findClient(clientId);
    return { id: clientId, name: client?.name ?? clientId, failures };
  });
  return {
    activity: { span: 'hour', from, to, tallies },
    failing: await Promise.all(named),
    incidents,
    countedTo: COUNTED_INCIDENTS,
  };
}
