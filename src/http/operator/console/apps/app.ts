/** The page of one app, and the acts on it. */
import type { Client } from '../../../../oauth/clients/client.ts';
import { OperatorError } from '../../../../oauth/error.ts';
import type { Actor } from '../../../../oauth/trail/audit.ts';
import { secretAdvice } from '../../../../operator/secrets/secret-advice.ts';
import { findClientUses } from '../../../../operator/secrets/secret-last-uses.ts';
import { endingSecret, type WhichSecret } from '../../../../operator/secrets/secret-rotation.ts';
import type { ActProblem } from '../../../../pages/operator/act-button.ts';
import { appSecret, pickUpLink } from '../../../../pages/operator/apps/app-once.ts';
import { APP_NOTICES, type AppNotice, appHref, appPage } from '../../../../pages/operator/apps/app-page.ts';
import { secretBefore } from '../../../../pages/operator/apps/app-secrets.ts';
import type { ConsolePage } from '../../../../pages/operator/frame.ts';
import { shownOncePage } from '../../../../pages/operator/shown-once.ts';
import type { Service } from '../../../service/service.ts';
import { doneIn } from '../asked-list-page.ts';
import { asShown, type ConsoleCall, type ConsoleRoutes } from '../console-routes.ts';
import { runOnce } from '../once-only-form.ts';
import { appData } from './app-data.ts';

/** Adds the page and its acts. */
export function addApp(routes: ConsoleRoutes, service: Service): void {
  const { clients, handOvers, idempotency, secretUses } = service.operatorApi;

  async function show(call: ConsoleCall, problem: ActProblem | null): Promise<ConsolePage | null> {
    const client = await service.clients.findClient(call.id);
    if (client === null) return null;
    const done = problem === null ? doneIn(call.query, APP_NOTICES) : null;
    return appPage(call.context, { ...(await appData(service, call, client)), done, problem });
  }

  const { act, change } = routes.thing<AppNotice>('/apps/:id', 'clients.show', show);

  const retire = (which: WhichSecret) =>
    change(`secrets/${which}/retire`, 'clients.retire-secret', 'retired', async ({ id, actor, form }) => {
      const row = await clients.exact(id);
      // By now "older" may be the secret that the app uses: it must be the one that the page showed.
      if (String(endingSecret(row, which)?.createdAt) !== form.get('made')) throw secretsChanged();
      const advice = secretAdvice(await findClientUses(row, secretUses), service.now()).at(which === 'older' ? -1 : 0);
      if (advice?.kind === 'used' && form.get('advice') !== 'used') throw usedMeanwhile();
      const unchanged = { noun: 'client', row } as const;
      await asShown(actor, unchanged, secretsChanged(), (asked) => clients.retireSecret(id, asked, which));
    });

  change('pause', 'clients.pause', 'paused', ({ id, actor }) => clients.pause(id, actor));
  change('resume', 'clients.resume', 'resumed', ({ id, actor }) => clients.resume(id, actor));
  change('revoke-grants', 'clients.revoke-grants', 'ended', ({ id, actor }) => clients.revokeGrants(id, actor));
  retire('older');
  retire('newer');
  act('delete', 'clients.delete', async ({ id, actor, requires }) => {
    requires('clients.revoke-grants');
    await clients.delete(id, actor);
    return { location: '/apps?done=deleted' };
  });
  const secretsOf = ({ id, name }: Pick<Client, 'id' | 'name'>) => ({
    isOf: true,
    next: { href: `${appHref(id)}#secrets`, noun: 'the app', name },
  });
  act('secrets', 'clients.make-secret', async (call) => {
    const { context, id } = call;
    const client = await clients.exact(id);
    const page = { heading: 'The new secret', ...secretsOf(client) };
    const make = async (actor: Actor) => {
      const { secret } = await clients.rotateSecret(id, actor);
      const lead = secretBefore(client.status === 'paused');
      return shownOncePage(context, { ...page, lead, once: appSecret(secret) });
    };
    const madeBefore = async () => shownOncePage(context, { ...page, lead: MADE_BEFORE, once: null });
    return runOnce(idempotency, call, null, make, madeBefore);
  });
  act('hand-over', 'clients.hand-over', async ({ context, id, actor }) => {
    const client = await clients.exact(id);
    const made = await handOvers.make({ kind: 'client', id }, actor);
    const { replaced } = made;
    return shownOncePage(context, {
      heading: 'The link for the developer',
      ...(replaced !== null && {
        lead: `The earlier link of ${context.messages.minute(replaced)} no longer works.`,
      }),
      once: pickUpLink(context, { name: client.name, ...made }),
      ...secretsOf(client),
    });
  });
}

const MADE_BEFORE =
  'The form was sent twice, and one secret was made. The first answer had it. If you did not see it, make another one; where two work already, retire the newer one first.';

function secretsChanged(): OperatorError {
  return new OperatorError('The secrets changed meanwhile. Look at them again before you retire one.');
}

function usedMeanwhile(): OperatorError {
  return new OperatorError('The app used this secret meanwhile: retiring it would break the app. Look at it again.');
}
