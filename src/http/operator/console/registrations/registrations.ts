/** The pages of APIs, products and scopes. */
import type { IdentityProvider } from '../../../../accounts/people/identity-provider.ts';
import { OperatorError } from '../../../../oauth/error.ts';
import type { ResourceServer } from '../../../../oauth/resource-servers/resource-server.ts';
import type { Act } from '../../../../operator/access/rights.ts';
import { providerRows } from '../../../../operator/fields/identity-provider-fields.ts';
import { resourceServerRows } from '../../../../operator/fields/resource-server-fields.ts';
import type { HandOverName } from '../../../../operator/hand-over/hand-over.ts';
import type { AskedPage, ListPage } from '../../../../operator/lists/lists.ts';
import { liveSecrets } from '../../../../operator/secrets/secret-last-uses.ts';
import type { PageContext } from '../../../../pages/layout/layout.ts';
import type { ActProblem } from '../../../../pages/operator/act-button.ts';
import type { ShownHandOver } from '../../../../pages/operator/apps/app-secrets.ts';
import type { ConsolePage } from '../../../../pages/operator/frame.ts';
import { apiPage, apisPage } from '../../../../pages/operator/registrations/apis-pages.ts';
import type { RegistrationsData } from '../../../../pages/operator/registrations/list-page.ts';
import {
  PRODUCT_NOTICES,
  type ProductNotice,
  productPage,
  productsPage,
  type ShownFinding,
} from '../../../../pages/operator/registrations/products-pages.ts';
import { scopesPage } from '../../../../pages/operator/registrations/scopes-page.ts';
import type { Service } from '../../../service/service.ts';
import { askedPage, doneIn } from '../asked-list-page.ts';
import type { ConsoleCall, ConsoleRoutes } from '../console-routes.ts';

/** Adds the pages. */
export function addRegistrations(routes: ConsoleRoutes, { operatorApi, operators }: Service): void {
  const { lists, store, secretUses, handOvers, identityProviders, testProvider } = operatorApi;
  const withSecrets = async <Owner extends Pick<IdentityProvider, 'secrets'>>(owner: Owner) => ({
    ...owner,
    secrets: await liveSecrets(owner.secrets, secretUses),
  });
  const newestHandOver = async (name: HandOverName): Promise<ShownHandOver | null> => {
    const [found, known] = await Promise.all([handOvers.newest(name), operators.registry.list()]);
    return found && { ...found, madeBy: known.find(({ id }) => id === found.madeBy)?.name ?? found.madeBy };
  };
  const list = <Row, Item>(
    [path, act]: readonly [path: string, act: Act],
    read: (page: AskedPage) => Promise<ListPage<Row> | null>,
    shown: (row: Row) => Promise<Item> | Item,
    page: (context: PageContext, data: RegistrationsData<Item>) => ConsolePage,
  ) =>
    routes.page(path, act, async ({ context, query }) => {
      const asked = askedPage(query);
      const found = await read(asked);
      if (found === null) return { location: path };
      const items = await Promise.all(found.items.map(shown));
      return page(context, { list: { items, next: found.next }, isFirst: asked.after === undefined });
    });

  const shownApi = async (server: ResourceServer) => ({
    ...(await withSecrets(server)),
    settings: resourceServerRows(server),
  });
  const shownProduct = async (provider: IdentityProvider) => ({
    ...(await withSecrets(provider)),
    settings: providerRows(provider),
  });
  list(['/apis', 'resource-servers.list'], (page) => lists.resourceServers(page), shownApi, apisPage);
  list(['/products', 'identity-providers.list'], (page) => lists.identityProviders(page), shownProduct, productsPage);
  list(
    ['/scopes', 'scopes.list'],
    (page) => lists.scopes(page),
    (scope) => scope,
    scopesPage,
  );

  routes.page('/apis/:id', 'resource-servers.show', async ({ context, id }) => {
    const server = await store.findResourceServer(id);
    if (server === null) return null;
    const [api, handOver] = await Promise.all([shownApi(server), newestHandOver({ kind: 'resource_server', id })]);
    return apiPage(context, { api, handOver });
  });

  const show = (call: ConsoleCall, problem: ActProblem | null) => product(call, { problem });
  const { act, change } = routes.thing<ProductNotice>('/products/:id', 'identity-providers.show', show);
  change('pause', 'identity-providers.pause', 'paused', ({ id, actor }) => identityProviders.pause(id, actor));
  change('resume', 'identity-providers.resume', 'resumed', ({ id, actor }) => identityProviders.resume(id, actor));
  act('test', 'identity-providers.test', async (call) => {
    const tested = await product(call, { findings: await testProvider(call.id) });
    if (tested === null) throw new OperatorError('there is no such product');
    return tested;
  });

  async function product(
    { context, id, query, may }: ConsoleCall,
    { findings = null, problem = null }: { findings?: readonly ShownFinding[] | null; problem?: ActProblem | null },
  ): Promise<ConsolePage | null> {
    const provider = await store.findIdentityProvider(id);
    if (provider === null) return null;
    return productPage(context, {
      product: await shownProduct(provider),
      findings,
      problem,
      handOver: await newestHandOver({ kind: 'identity_provider', id }),
      done: problem === null ? doneIn(query, PRODUCT_NOTICES) : null,
      may: {
        pause: may('identity-providers.pause'),
        resume: may('identity-providers.resume'),
        test: may('identity-providers.test'),
      },
    });
  }
}
