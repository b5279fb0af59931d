/** The pages for a found credential. It comes in a body, and goes nowhere: no address, page, log or event has it. */
import { accountLabel } from '../../../../accounts/people/account.ts';
import type { Client } from '../../../../oauth/clients/client.ts';
import { OperatorError } from '../../../../oauth/error.ts';
import { grantIdText, grantStatus, lastUse, parseGrantId } from '../../../../oauth/grants/grant.ts';
import { personFieldsOf } from '../../../../oauth/grants/person-fields.ts';
import { scopeNames } from '../../../../oauth/grants/scope.ts';
import type { FoundGrant } from '../../../../oauth/protocol/grant-store.ts';
import type { Act } from '../../../../operator/access/rights.ts';
import { takesSecret } from '../../../../operator/hand-over/hand-over.ts';
import { type Identified, isLinkKind } from '../../../../operator/leaks/identified-credential.ts';
import { MAX_CREDENTIAL_LENGTH } from '../../../../operator/leaks/identify-credential.ts';
import { USED } from '../../../../operator/leaks/identify-one-time-link.ts';
import { grantsToEndSoon } from '../../../../operator/lists/blast-radius.ts';
import { secretAdvice } from '../../../../operator/secrets/secret-advice.ts';
import { findClientUses } from '../../../../operator/secrets/secret-last-uses.ts';
import type { ActProblem } from '../../../../pages/operator/act-button.ts';
import type { ConsolePage } from '../../../../pages/operator/frame.ts';
import {
  LEAK_NOTICES,
  type LeakedApp,
  type LeakedGrant,
  type LeakNotice,
  leakStepsPage,
} from '../../../../pages/operator/leaked/leak-steps.ts';
import type { ShownCredential } from '../../../../pages/operator/leaked/leaked-page.ts';
import { identifiedPage, leakedPage } from '../../../../pages/operator/leaked/leaked-page.ts';
import { listHref } from '../../../../pages/operator/listing.ts';
import { permissionsGranted } from '../../../browser/authorize/permissions-on-pages.ts';
import type { Service } from '../../../service/service.ts';
import { doneIn } from '../asked-list-page.ts';
import type { ConsoleCall, ConsoleRoutes } from '../console-routes.ts';
import { addSearch } from './search.ts';

/** Adds the pages. */
export function addLeaked(routes: ConsoleRoutes, service: Service): void {
  const { identification, clients, store } = service.operatorApi;

  routes.page('/leaked', 'identify', async () => leakedPage(null));

  routes.act(
    '/leaked',
    'identify',
    (call) => identify(call, (call.form.get('credential') ?? '').trim()),
    async (_call, { text }) => leakedPage(text),
    { hasCredential: true },
  );

  addSearch(routes, service, identify);

  routes.page('/leaked/apps/:id', 'clients.show', (call) => steps(call, call.query.get('grant'), null));

  const step = (path: string, name: Act, done: LeakNotice, run: (call: ConsoleCall) => Promise<unknown>) =>
    routes.act(
      `/leaked/apps/:id/${path}`,
      name,
      async (call) => {
        await run(call);
        const at = `/leaked/apps/${encodeURIComponent(call.id)}`;
        // Whatever else was sent there may be a credential, which no address may have.
        const grant = parseGrantId(call.form.get('grant') ?? '');
        return { location: listHref(at, { done, grant: grant ? grantIdText(grant) : '' }) };
      },
      (call, problem) => steps(call, call.form.get('grant'), problem),
    );

  step('revoke-grant', 'grants.revoke', 'grant', async ({ id, form, actor }) => {
    const found = await grantOf(id, form.get('grant'));
    // Whatever was sent may be a credential, which no sentence may quote.
    if (!found) throw new OperatorError('This app has no such grant.');
    await service.grants.revoke(grantIdText(found.grant.id), actor);
  });
  step('pause', 'clients.pause', 'paused', ({ id, actor }) => clients.pause(id, actor));
  step('revoke-grants', 'clients.revoke-grants', 'all', ({ id, actor }) => clients.revokeGrants(id, actor));

  async function identify(call: ConsoleCall, sent: string): Promise<ConsolePage> {
    if (sent === '' || sent.length > MAX_CREDENTIAL_LENGTH)
      throw new OperatorError(`Paste one credential, of at most ${MAX_CREDENTIAL_LENGTH} characters.`);
    const found = await identification.identify(sent);
    if (!found) throw new OperatorError(identification.whyUnknown(sent));
    const { grant, ...shown } = found;
    const link = shownLink(call, found);
    const client = link ? null : (grant?.client ?? (await service.clients.findClient(found.owner.id)));
    const app = client && (await leakedApp(call, client, grant));
    const secret = client && found.secretAt !== undefined ? await leakedSecret(client, found.secretAt) : null;
    return identifiedPage(call.context, { ...shown, app: app && { ...app, secret }, link });
  }

  async function steps(
    call: ConsoleCall,
    grantId: string | undefined,
    problem: ActProblem | null,
  ): Promise<ConsolePage | null> {
    const client = await service.clients.findClient(call.id);
    if (client === null) return null;
    const app = await leakedApp(call, client, await grantOf(client.id, grantId));
    const done = problem === null ? doneIn(call.query, LEAK_NOTICES) : null;
    return leakStepsPage(call.context, { app, done, problem });
  }

  /** The grant of an app that a text names, or null. */
  async function grantOf(clientId: string, text: string | undefined): Promise<FoundGrant | null> {
    const id = parseGrantId(text ?? '');
    const found = id && (await store.findGrant(id));
    return found?.grant.clientId === clientId ? found : null;
  }

  async function leakedApp({ may }: ConsoleCall, client: Client, found: FoundGrant | null): Promise<LeakedApp> {
    const { id, name, status } = client;
    return {
      id,
      name,
      status,
      takesSecret: takesSecret({ kind: 'client', row: client }),
      grant: found && (await shownGrant(found)),
      secret: null,
      grants: await grantsToEndSoon({ grants: service.grants, lists: service.operatorApi.lists }, { clientId: id }),
      may: { endGrant: may('grants.revoke'), pause: may('clients.pause'), endAll: may('clients.revoke-grants') },
    };
  }

  async function leakedSecret(client: Client, at: number): Promise<LeakedApp['secret']> {
    const uses = await findClientUses(client, service.operatorApi.secretUses);
    const isOnly = uses.secrets.length === 1;
    const advice = secretAdvice(uses, service.now())[at]?.kind;
    return {
      which: isOnly ? null : at === 0 ? 'newer' : 'older',
      lastUsedAt: uses.secrets[at]?.lastUsedAt ?? null,
      isNeeded: advice === 'used' || advice === 'only',
    };
  }

  async function shownGrant({ grant, client, standing, resourceOwner }: FoundGrant): Promise<LeakedGrant> {
    const status = grantStatus(grant, standing, service.now());
    return {
      id: grantIdText(grant.id),
      isLive: status === 'issued' || status === 'active',
      person: { id: resourceOwner.id, name: accountLabel(resourceOwner) },
      permissions: permissionsGranted(await service.scopes.listScopes(), client, scopeNames(grant.scope), 'en'),
      personFields: personFieldsOf(grant),
      lastUsedAt: lastUse(grant),
    };
  }
}

/** Returns a found one-time link, with the acts that end it and the role allows; null for anything else. */
function shownLink({ may }: ConsoleCall, { kind, owner, deadBecause }: Identified): ShownCredential['link'] {
  if (!isLinkKind(kind)) return null;
  const mayEnd = {
    client: { handOver: may('clients.hand-over'), pause: may('clients.pause') },
    resource_server: { handOver: may('resource-servers.hand-over'), pause: false },
    identity_provider: { handOver: may('identity-providers.hand-over'), pause: may('identity-providers.pause') },
    user: { invite: may('users.invite'), disable: may('users.disable') },
    operator: { reset: may('operators.reset'), endSessions: may('operators.end-sessions') },
  };
  return { kind, isAlive: deadBecause === null, isUsed: deadBecause === USED, may: mayEnd[owner.kind] };
}
