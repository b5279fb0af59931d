/** The page of an app's failures. */
import { accountLabel } from '../../../../accounts/people/account.ts';
import type { AppFailure } from '../../../../oauth/activity/app-failure.ts';
import { parseGrantId } from '../../../../oauth/grants/grant.ts';
import { causeKey } from '../../../../operator/apps/failure-summary.ts';
import { findClientUses, lastSecretUse } from '../../../../operator/secrets/secret-last-uses.ts';
import type { ShownFailure } from '../../../../pages/operator/apps/app-failures.ts';
import { appFailuresPage } from '../../../../pages/operator/apps/app-failures-page.ts';
import type { Service } from '../../../service/service.ts';
import type { ConsoleRoutes } from '../console-routes.ts';

/** Number of failures on a page, so that it stays below 50 KB. */
const PAGE_LENGTH = 25;

/** Adds the page. Its cursors are numbers: an app has at most 200 recorded failures, which are read at once. */
export function addAppFailures(routes: ConsoleRoutes, service: Service): void {
  const { appActivity, secretUses, store } = service.operatorApi;

  routes.page('/apps/:id/failures', 'clients.failures', async ({ context, id, query }) => {
    const app = await service.clients.findClient(id);
    if (app === null) return null;
    const { recorded, summary } = await appActivity.failures(id);
    const cause = query.get('cause') ?? '';
    const listed = cause === '' ? recorded : recorded.filter(({ reason }) => causeKey(reason) === cause);
    const after = query.get('after') ?? '';
    const from = /^[0-9]{1,3}$/.test(after) ? Number(after) : 0;
    const to = from + PAGE_LENGTH;
    const items = await withPeople(listed.slice(from, to));
    return appFailuresPage(context, {
      summary,
      cause,
      isFirst: from === 0,
      app: { id, name: app.name, type: app.type, secretUsedAt: lastSecretUse(await findClientUses(app, secretUses)) },
      list: { items, next: to < listed.length ? String(to) : null },
      pageFailures: service.pageFailures.list(id),
    });
  });

  function withPeople(failures: readonly AppFailure[]): Promise<ShownFailure[]> {
    return Promise.all(
      failures.map(async (failure) => {
        const person = failure.grantId === null ? null : await personOf(failure.grantId);
        return { ...failure, person: person && accountLabel(person) };
      }),
    );
  }

  /** The person of a grant; of one whose row was deleted, as the audit trail names them. */
  async function personOf(grantId: string) {
    const id = parseGrantId(grantId);
    const found = id && (await store.findGrant(id));
    if (found) return found.resourceOwner;
    const [event] = await store.listNamedAuditEvents({ grantId, limit: 1 });
    return event?.resourceOwner ?? null;
  }
}
