/** Reads what the page of one app shows. */
import { causesOf } from '../../../oauth/activity/app-failure.ts';
import { SPAN_MS, type Span, TALLIES_KEPT_MS } from '../../../oauth/activity/app-tally.ts';
import type { Client } from '../../../oauth/clients/client.ts';
import { type ScopeDefinition, sentenceFor } from '../../../oauth/grants/scope.ts';
import { grantsToEndSoon } from '../../../operator/blast-radius.ts';
import { handOverProblem, takesSecret } from '../../../operator/hand-over/hand-over.ts';
import { type ClientUses, findClientUses, lastClientUse } from '../../../operator/last-uses.ts';
import { secretAdvice } from '../../../operator/secret-advice.ts';
import { endingSecret } from '../../../operator/secret-rotation.ts';
import type { AppData } from '../../../pages/operator/apps/app-page.ts';
import type { AppSecrets, ShownSecret } from '../../../pages/operator/apps/app-secrets.ts';
import type { AppSettings } from '../../../pages/operator/apps/app-settings.ts';
import type { Plotted } from '../../../pages/operator/plot.ts';
import type { Service } from '../../service.ts';
import type { ConsoleCall } from './console-routes.ts';
import { shownEvent } from './investigation/shown-event.ts';
import { newKey } from './once.ts';

const SHOWN_CAUSES = 5;
const SHOWN_CHANGES = 5;
const FAILURES_SINCE_MS = 30 * SPAN_MS.day;

/** Reads an app for its page. */
export async function appData(
  service: Service,
  { operator, may, hasPasskey }: Pick<ConsoleCall, 'operator' | 'may' | 'hasPasskey'>,
  client: Client,
): Promise<Omit<AppData, 'done' | 'problem'>> {
  const { id, name, status } = client;
  const { operatorApi, grants, scopes, pageFailures } = service;
  const now = service.now();
  const newest = { limit: SHOWN_CHANGES, after: undefined };
  const [uses, definitions, ended, hours, days, activity, changes, handOver, operators] = await Promise.all([
    findClientUses(client, operatorApi.secretUses),
    scopes.listScopes(),
    grantsToEndSoon({ grants, lists: operatorApi.lists }, { clientId: id }),
    plotted(service, client, 'hour', now),
    plotted(service, client, 'day', now),
    operatorApi.appActivity.find(id, now - FAILURES_SINCE_MS),
    operatorApi.lists.events({ changesOf: id, order: 'newest' }, newest),
    operatorApi.handOvers.newest({ kind: 'client', id }),
    service.operators.registry.list(),
  ]);
  const nameOf = (actorId: string) => operators.find((each) => each.id === actorId)?.name ?? actorId;
  return {
    operator,
    app: { id, name, status, ...settingsOf(client, uses, definitions) },
    lastUsedAt: lastClientUse(uses),
    secrets: {
      ...secretsOf(client, uses, now, may),
      once: newKey(),
      hasPasskey: await hasPasskey(),
      handOver: handOver && { ...handOver, madeBy: nameOf(handOver.madeBy) },
    },
    ...{ grants: ended, hours, days, causes: causesOf(activity.failures).slice(0, SHOWN_CAUSES) },
    pageFailureCount: pageFailures.list(id).length,
    changes: (changes?.items ?? []).map(shownEvent),
    may: {
      update: may('clients.update'),
      pause: may('clients.pause'),
      revokeGrants: may('clients.revoke-grants'),
      delete: may('clients.delete'),
    },
  };
}

async function plotted(service: Service, { id, createdAt }: Client, span: Span, now: number): Promise<Plotted> {
  const since = now - TALLIES_KEPT_MS[span];
  const tallies = await service.operatorApi.appActivity.tallies(id, span, since);
  return { span, from: since, to: now, registeredAt: createdAt, tallies };
}

function settingsOf(client: Client, { keys }: ClientUses, definitions: readonly ScopeDefinition[]): AppSettings {
  return {
    ...client,
    keys: client.keys.map(({ kid = null }, at) => ({ kid, lastUsedAt: keys[at] ?? null })),
    scopes: client.scopes.map((scope) => ({
      name: scope.name,
      sentence: sentenceFor(scope, definitions, 'en'),
      isOptional: scope.optional,
      isOwn: scope.sentence !== null,
    })),
  };
}

function secretsOf(
  client: Client,
  uses: ClientUses,
  now: number,
  may: ConsoleCall['may'],
): Omit<AppSecrets, 'handOver' | 'once' | 'hasPasskey'> {
  const subject = { kind: 'client', row: client } as const;
  const { secrets } = uses;
  const advice = secretAdvice(uses, now);
  return {
    ...{ id: client.id, type: client.type },
    secrets: secrets.map((secret, at): ShownSecret => {
      const which = at === secrets.length - 1 ? 'older' : 'newer';
      const retires = endingSecret(client, which) === null ? null : which;
      return { ...secret, advice: advice[at] ?? { kind: 'used', days: 0 }, retires };
    }),
    mayMakeSecret: takesSecret(subject) && secrets.length < 2 && may('clients.make-secret'),
    mayRetire: may('clients.retire-secret'),
    mayHandOver: handOverProblem(subject) === null && may('clients.hand-over'),
    handsOverSecret: takesSecret(subject),
  };
}
