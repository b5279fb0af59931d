/** The page of an app's failures. */
import { SPAN_MS } from '../../../oauth/activity/app-tally.ts';
import { appFailuresPage, FAILURE_TIMES } from '../../../pages/operator/apps/app-failures-page.ts';
import type { Service } from '../../service.ts';
import { chosen } from './asked-page.ts';
import type { ConsoleRoutes } from './console-routes.ts';

/** Number of failures on a page, so that it stays below 50 KB. */
const PAGE_LENGTH = 25;

/** Adds the page. Its cursors are numbers: an app has no more than some hundred failures, which are read at once. */
export function addAppFailures(routes: ConsoleRoutes, service: Service): void {
  routes.page('/apps/:id/failures', 'clients.failures', async ({ context, operator, id, query }) => {
    const app = await service.clients.findClient(id);
    if (app === null) return null;
    const filter = { time: chosen(query, 'time', FAILURE_TIMES) };
    const since = service.now() - (filter.time === 'month' ? 30 : 1) * SPAN_MS.day;
    const { tally, failures } = await service.operatorApi.appActivity.find(id, since);
    const after = query.get('after') ?? '';
    const from = /^[0-9]{1,3}$/.test(after) ? Number(after) : 0;
    const to = from + PAGE_LENGTH;
    const list = { items: failures.slice(from, to), next: to < failures.length ? String(to) : null };
    const pageFailures = service.pageFailures.list(id);
    return appFailuresPage(context, {
      operator,
      app,
      filter,
      isFirst: from === 0,
      list,
      listed: failures.length,
      tally,
      pageFailures,
    });
  });
}
