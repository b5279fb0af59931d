/** The page of the installation's state. */
import { healthPage } from '../../../../pages/operator/now/health-page.ts';
import type { Service } from '../../../service/service.ts';
import type { ConsoleRoutes } from '../console-routes.ts';

/** Adds the page. */
export function addHealth(routes: ConsoleRoutes, service: Service): void {
  routes.page('/health', 'status.show', async ({ context }) =>
    healthPage(context, { state: await service.operatorApi.status() }),
  );
}
