/** The pages that register an app, and change one. */
import type { Client } from '../../../../oauth/clients/client.ts';
import { OperatorError } from '../../../../oauth/error.ts';
import { type Scope, sentenceFor } from '../../../../oauth/grants/scope.ts';
import {
  actsOfNewClient,
  actsOfScopes,
  CLIENT_SETTINGS,
  NEW_CLIENT_SETTINGS,
  type NewClient,
} from '../../../../operator/fields/client-fields.ts';
import type { Members } from '../../../../operator/fields/field.ts';
import { actsOf, readNew, readSettings } from '../../../../operator/fields/setting.ts';
import { takesSecret } from '../../../../operator/hand-over/hand-over.ts';
import { findClientJson } from '../../../../operator/json/client.ts';
import type { ActProblem } from '../../../../pages/operator/act-button.ts';
import type { AppFormValues } from '../../../../pages/operator/apps/app-form-fields.ts';
import { editAppPage, newAppPage } from '../../../../pages/operator/apps/app-form-page.ts';
import type { OfferedScope } from '../../../../pages/operator/apps/app-form-scopes.ts';
import { appSecret, pickUpLink } from '../../../../pages/operator/apps/app-once.ts';
import { appHref } from '../../../../pages/operator/apps/app-page.ts';
import { type RegisteredData, registeredPage } from '../../../../pages/operator/apps/registered-page.ts';
import type { ConsolePage } from '../../../../pages/operator/frame.ts';
import { developerValues } from '../../../service/developer-values.ts';
import type { Service } from '../../../service/service.ts';
import { etagOf, tagsKeys } from '../../api/etag.ts';
import { asShown, type ConsoleCall, type ConsoleRoutes, type FormOptions } from '../console-routes.ts';
import { keyAfter, newKey, runOnce } from '../once-only-form.ts';
import { shownOf, typedOver } from '../typed-over.ts';
import { formGroups } from './app-form-groups.ts';
import { changedMembers, membersOf, typedValues, valuesOf } from './app-form-values.ts';

/** Number of scopes that a form offers, so that its page stays below 50 KB: the app's own, then defined ones. Others can be typed. */
const MAX_OFFERED = 50;

/** Number of offered scopes up to which each has its sentence, for the same reason. */
const MAX_SENTENCES = 30;

/** Limits that an app within its own ones fits in: two boxes for each of 100 scopes, and 20 redirect URIs of 2,000 characters. */
const LARGE_FORM: FormOptions = { bodyLimit: 256 * 1024, maxParameters: 500, keepsTyped: true };

/** Adds the pages. */
export function addAppForms(routes: ConsoleRoutes, service: Service): void {
  const { clients, handOvers, idempotency, secretUses } = service.operatorApi;

  routes.page('/apps/new', 'clients.register', (call) => newApp(call, valuesOf(null), newKey(), null));

  routes.act(
    '/apps/new',
    'clients.register',
    async (call) => {
      const members = typedApp(call);
      for (const act of actsOfNewClient(members)) call.requires(act);
      return registerOnce(call, readNew(NEW_CLIENT_SETTINGS, members));
    },
    (call, problem) => newApp(call, typedValues(call.form, valuesOf(null)), keyAfter(call, problem), problem),
    LARGE_FORM,
  );

  routes.page('/apps/:id/edit', 'clients.update', async (call) => {
    const client = await service.clients.findClient(call.id);
    if (!client) return null;
    const values = valuesOf(client);
    return editApp(client, { values, shown: shownOf(values), tag: await tagOf(client) });
  });

  routes.act(
    '/apps/:id/edit',
    'clients.update',
    async (call) => {
      const client = await service.clients.findClient(call.id);
      if (!client) throw new OperatorError('there is no app with this id');
      if (call.form.get('tag') !== (await tagOf(client))) throw changedMeanwhile();
      const typed = typedValues(call.form, valuesOf(client));
      const changes = readSettings(CLIENT_SETTINGS, changedMembers(client, typed));
      const acts = [...actsOf(CLIENT_SETTINGS, changes, 'changing'), ...actsOfScopes(changes.scopes, client.scopes)];
      for (const act of acts) call.requires(act);
      const location = appHref(client.id);
      if (Object.keys(changes).length === 0) return { location };
      const unchanged = { noun: 'client', row: client } as const;
      await asShown(call.actor, unchanged, changedMeanwhile(), (actor) => clients.update(client.id, changes, actor));
      return { location: `${location}?done=updated` };
    },
    async (call, problem) => {
      const client = await service.clients.findClient(call.id);
      if (!client) return null;
      const typed = typedValues(call.form, valuesOf(client));
      const shown = call.form.get('shown') ?? '';
      if (problem.field !== 'tag')
        return editApp(client, { values: typed, shown, tag: call.form.get('tag') ?? '', problem });
      const present = valuesOf(client);
      const values = typedOver(present, typed, shown);
      return editApp(client, {
        values,
        shown: shownOf(present),
        tag: await tagOf(client),
        problem,
        present,
      });
    },
    LARGE_FORM,
  );

  function registerOnce(call: ConsoleCall, app: NewClient): Promise<ConsolePage> {
    const { type, handOver: handsOver, ...settings } = app;
    return runOnce(
      idempotency,
      call,
      app,
      async (actor) => {
        const made = await clients.register(type, settings, actor, null, handsOver);
        const { row: client, secret, handOver } = made;
        if (secret !== null) return registered(call, client, { kind: 'secret', shown: appSecret(secret) });
        if (handOver === null) return registered(call, client, { kind: 'none' });
        const link = { name: client.name, ...handOvers.addressOf(handOver, { kind: 'client', row: client }) };
        return registered(call, client, { kind: 'link', shown: pickUpLink(call.context, link) });
      },
      async (id) => {
        const client = await clients.show(id);
        const isSecret = takesSecret({ kind: 'client', row: client });
        return registered(call, client, { kind: isSecret ? 'shown before' : 'none' });
      },
    );
  }

  function registered({ context }: ConsoleCall, client: Client, once: RegisteredData['once']): ConsolePage {
    const { id, name } = client;
    const values = developerValues({ kind: 'client', row: client }, null, service);
    return registeredPage(context, { id, name, once, values });
  }

  async function newApp(
    { hasPasskey }: ConsoleCall,
    values: AppFormValues,
    once: string,
    problem: ActProblem | null,
  ): Promise<ConsolePage> {
    const form = { values, initial: valuesOf(null), problem, present: null };
    return newAppPage({
      form,
      groups: formGroups(null),
      scopes: await offeredScopes([], values),
      once,
      hasPasskey: await hasPasskey(),
    });
  }

  async function editApp(
    client: Client,
    state: { values: AppFormValues; shown: string; tag: string; problem?: ActProblem; present?: AppFormValues },
  ): Promise<ConsolePage> {
    const { values, shown, tag, problem = null, present = null } = state;
    const scopes = await offeredScopes(client.scopes, values);
    const { id, name, type } = client;
    const proof = type === 'public' ? 'none' : takesSecret({ kind: 'client', row: client }) ? 'secret' : 'keys';
    const form = { values, initial: valuesOf(client), problem, present };
    return editAppPage({ form, groups: formGroups(client), scopes, id, name, proof, tag, shown });
  }

  /** Returns the scopes that an app has, the defined ones, and those chosen when they were one of these. */
  async function offeredScopes(had: readonly Scope[], chosen: AppFormValues): Promise<OfferedScope[]> {
    const defined = await service.scopes.listScopes();
    const others = defined.filter(({ name }) => had.every((scope) => scope.name !== name));
    const offered = others.slice(0, Math.max(0, MAX_OFFERED - had.length)).map(({ name }) => name);
    const names = new Set([...had.map(({ name }) => name), ...offered, ...chosen.scopes, ...chosen.optional_scopes]);
    return [...names].map((name) => {
      const scope = had.find((each) => each.name === name) ?? { name, sentence: null };
      return { name, sentence: names.size > MAX_SENTENCES ? null : sentenceFor(scope, defined, 'en') };
    });
  }

  async function tagOf(client: Client): Promise<string> {
    return etagOf(tagsKeys(await findClientJson(client, secretUses), client));
  }
}

/**
 * Returns the members of the app that a form registers. Only a server without keys has a secret to hand over. The default of
 * consent is not named: with sign-in it is another.
 */
function typedApp({ form }: ConsoleCall): Members {
  const values = typedValues(form, valuesOf(null));
  const { type, hand_over: way, keys } = values;
  const takesSecret = type === 'confidential' && keys === '';
  const { consent, ...members } = membersOf(values, []);
  const named = consent === CLIENT_SETTINGS.consent.initial ? {} : { consent };
  return { ...members, ...named, type, hand_over: takesSecret && way !== 'secret' };
}

function changedMeanwhile(): OperatorError {
  return new OperatorError(
    'Somebody else changed the app while you typed. Your changes are still here, each with the present value below it. Check them, then save again.',
    'tag',
  );
}
