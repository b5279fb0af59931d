/** Reads what the page of one app shows. */
import { TALLIES_KEPT_MS } from '../../../../oauth/activity/app-tally.ts';
import type { Client } from '../../../../oauth/clients/client.ts';
import type { Lifetimes } from '../../../../oauth/grants/grant.ts';
import { type ScopeDefinition, sentenceFor } from '../../../../oauth/grants/scope.ts';
import { failsNow } from '../../../../operator/apps/failure-summary.ts';
import { refusedSince } from '../../../../operator/apps/requests-refused-since.ts';
import { CLIENT_GROUPS, clientRows, NEW_CLIENT_SETTINGS } from '../../../../operator/fields/client-fields.ts';
import { handOverProblem, takesSecret } from '../../../../operator/hand-over/hand-over.ts';
import { grantsToEndSoon } from '../../../../operator/lists/blast-radius.ts';
import { secretAdvice } from '../../../../operator/secrets/secret-advice.ts';
import {
  type ClientUses,
  findClientUses,
  lastClientUse,
  lastSecretUse,
} from '../../../../operator/secrets/secret-last-uses.ts';
import { endingSecret } from '../../../../operator/secrets/secret-rotation.ts';
import type { AppData } from '../../../../pages/operator/apps/app-page.ts';
import type { AppSecrets, ShownSecret } from '../../../../pages/operator/apps/app-secrets.ts';
import type { AppSettings } from '../../../../pages/operator/apps/app-settings.ts';
import type { Service } from '../../../service/service.ts';
import type { ConsoleCall } from '../console-routes.ts';
import { newKey } from '../once-only-form.ts';
import { shownEvent } from '../shown-event.ts';

const SHOWN_CHANGES = 5;

/** Reads an app for its page. */
export async function appData(
  service: Service,
  { may, hasPasskey }: Pick<ConsoleCall, 'may' | 'hasPasskey'>,
  client: Client,
): Promise<Omit<AppData, 'done' | 'problem'>> {
  const { id, name, status, createdAt: registeredAt } = client;
  const { operatorApi, grants, scopes, pageFailures } = service;
  const now = service.now();
  const order = 'newest';
  const one = { limit: 1, after: undefined } as const;
  const daysFrom = now - TALLIES_KEPT_MS.day;
  const [uses, definitions, ended, days, failures, changes, pauses, handOver, operators] = await Promise.all([
    findClientUses(client, operatorApi.secretUses),
    scopes.listScopes(),
    grantsToEndSoon({ grants, lists: operatorApi.lists }, { clientId: id }),
    operatorApi.appActivity.tallies(id, 'day', daysFrom),
    operatorApi.appActivity.failures(id),
    operatorApi.lists.events({ changesOf: id, order }, { limit: SHOWN_CHANGES, after: undefined }),
    status === 'paused' ? operatorApi.lists.events({ changesOf: id, action: 'client_paused', order }, one) : null,
    operatorApi.handOvers.newest({ kind: 'client', id }),
    service.operators.registry.list(),
  ]);
  const paused = (pauses?.items ?? []).map(shownEvent)[0] ?? null;
  const nameOf = (actorId: string) => operators.find((each) => each.id === actorId)?.name ?? actorId;
  return {
    app: { id, name, status, ...settingsOf(client, uses, definitions, service.lifetimes) },
    lastUsedAt: lastClientUse(uses),
    secretUsedAt: lastSecretUse(uses),
    secrets: {
      ...secretsOf(client, uses, now, may),
      once: newKey(),
      hasPasskey: await hasPasskey(),
      handOver: handOver && { ...handOver, madeBy: nameOf(handOver.madeBy) },
    },
    grants: ended,
    hours: { span: 'hour', from: now - TALLIES_KEPT_MS.hour, to: now, registeredAt, tallies: failures.hours },
    days: { span: 'day', from: daysFrom, to: now, registeredAt, tallies: days },
    failures: failures.summary,
    isFailing: failsNow(failures.summary, now),
    paused,
    refused: refusedSince(paused?.at ?? 0, { hour: failures.hours, day: days }, failures.recorded, now),
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

function settingsOf(
  client: Client,
  { keys }: ClientUses,
  definitions: readonly ScopeDefinition[],
  lifetimes: Lifetimes,
): AppSettings {
  const rows = clientRows(client, lifetimes).filter(({ name }) => name !== 'name');
  return {
    ...client,
    groups: CLIENT_GROUPS.map((title) => ({ title, rows: rows.filter(({ group }) => group === title) })),
    typeWords: NEW_CLIENT_SETTINGS.type.words?.[client.type]?.[0] ?? client.type,
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
    id: client.id,
    type: client.type,
    isPaused: client.status === 'paused',
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
