/** The page of an app's failures. */
import { failuresOf, SPAN_MS } from '../../../oauth/activity/app-tally.ts';
import { appFailuresPage, FAILURE_TIMES } from '../../../pages/operator/apps/app-failures-page.ts';
import type { Service } from '../../service.ts';
import { chosen } from './asked-page.ts';
import type { ConsoleRoutes } from './console-routes.ts';

/** Adds the page. */
export function addAppFailures(routes: ConsoleRoutes, service: Service): void {
  routes.page('/apps/:id/failures', 'clients.failures', async ({ context, operator, id, query }) => {
    const app = await service.clients.findClient(id);
    if (app === null) return null;
    const time = chosen(query, 'time', FAILURE_TIMES);
    const since = service.now() - (time === 'month' ? 30 : 1) * SPAN_MS.day;
    const { tally, failures } = await service.operatorApi.appActivity.find(id, since, MOST_SHOWN);
    const pageFailures = service.pageFailures.list(id);
    return appFailuresPage(context, {
      ...{ operator, app, time, failures, pageFailures },
      counted: failuresOf(tally),
    });
  });
}

/** Number of shown failures, so that the page stays below 50 KB. */
const MOST_SHOWN = 50;
