/** `client`: registers apps, and changes, shows, stops or deletes them. */
import { Option } from 'commander';
import { spansSince } from '../oauth/activity/app-tally.ts';
import type { Client } from '../oauth/clients/client.ts';
import type { ClientRegistry } from '../operator/client-registry.ts';
import { findClientJson, registeredClientJson } from '../operator/json/client.ts';
import { findHandOverJson } from '../operator/json/hand-over.ts';
import { addFailures, lastDay } from './client-failures.ts';
import { addRefresh } from './client-refresh.ts';
import { changedSettings, newSettings, type RegisterOptions, type UpdateOptions } from './client-settings.ts';
import {
  documentLines,
  fiveThings,
  listedClients,
  nextAfterRegistering,
  noteOfUpdate,
  SHOWN_ONCE,
  saidOfClient,
  shownClient,
} from './client-view.ts';
import type { CliCommand } from './command.ts';
import type { CommandResult, CommandRun } from './command-run.ts';
import { confirm } from './confirm.ts';
import type { Installation } from './context.ts';
import { countedGrants } from './ended-grants.ts';
import { HAND_OVER, type HandOverOption, handedOver, handOverField } from './hand-over-view.ts';
import { filterOf, LIMIT, type ListOptions, longList, UNUSED_SINCE } from './long-list.ts';
import { withOmittedKeys } from './omitted-keys.ts';
import {
  type Moment,
  NEWER,
  type NewerOption,
  readAssertionAudience,
  readConsent,
  readMoment,
  readOptionalScope,
  readPersonFields,
  readScope,
  readTimeSetting,
  timeOf,
} from './option.ts';
import { plain } from './plain.ts';
import { beforeRetiring } from './secret-view.ts';

const OVERLAP = [
  '--refresh-overlap <time>',
  'how long the previous refresh token still gets the current pair',
] as const;
const RETRY_WINDOW = ['--refresh-retry-window <time>', 'the same, while the current pair is unused'] as const;
const CONSENT = [
  '--consent <when>',
  'when users are asked: "ask" (each time, the default), "remember" (only for something new), or "skip" (never, for your own apps)',
] as const;

const PUBLISHER = ['--publisher <name>', 'the maker of the app, as users see it'] as const;
const HOMEPAGE = ['--homepage <url>', "the app's web page"] as const;
const PRIVACY = ['--privacy <url>', "the app's privacy page"] as const;
const CONTACT = ['--contact <address>', 'the contact for users: an email address or a page'] as const;
const CHECKED = [
  '--checked',
  'you verified the publisher, and that it owns the redirect hosts; users see this, and a change of these, the name, a page or the contact removes it',
] as const;

const PERSON = [
  '--person-fields <list>',
  'the user data that the app gets besides an ID: some of name,username,email,avatar_url (default: all), or none',
] as const;

const DEFAULT_RESOURCE = [
  '--default-resource <url>',
  'the API to which tokens are bound when the app names none; /v2/me still accepts them',
] as const;

const AUDIENCE = [
  '--assertion-audience <which>',
  'the accepted audience of the app\'s assertions: "any" (the default: the issuer or an endpoint), or "issuer" alone',
] as const;

const DAY_MS = 86_400_000;

type ClientListOptions = ListOptions<Client['status']> & { failingSince?: Moment };

/** Adds the commands about apps. */
export function addClientCommands(program: CliCommand, run: CommandRun): void {
  const client = program.group('client', 'Apps: register them, change them, stop them.');
  addRegister(client, run);
  addLooking(client, run);
  addFailures(client, run);
  addUpdate(client, run);
  addRefresh(client, run);
  addSecrets(client, run);
  addStopping(client, run);
}

function addRegister(client: CliCommand, run: CommandRun): void {
  client
    .leaf('register', 'Register an app, and print the five things that its developer needs.', [
      'client register --name "Acme Mail" --redirect-uri https://acme.example/callback',
      'client register --name "Acme Mail" --redirect-uri https://acme.example/callback --scope "mail=Read your mail" --optional-scope "send=Send mail"',
      'client register --name "Acme Phone" --public --redirect-uri com.acme.phone:/callback --json',
      'client register --name "Acme Books" --jwks acme-keys.json --redirect-uri https://books.acme.example/callback',
      'client register --name "Acme TV" --public --device',
      'client register --name "Acme Notes" --redirect-uri https://notes.acme.example/cb --default-resource https://mail.example.com',
      'client register --from https://agent.example/client.json --scope "mail=Read your mail"',
    ])
    .option('--name <name>', "the app's name, as users see it; required without --from")
    .option(...PUBLISHER)
    .option(...HOMEPAGE)
    .option(...PRIVACY)
    .option(...CONTACT)
    .option(...CHECKED)
    .option('--redirect-uri <uri...>', 'where users return to the app; repeatable; not needed with --device')
    .option('--from <url>', "the URL of the app's metadata document, which becomes its client ID")
    .option('--scope <scope...>', 'NAME, or "NAME=Sentence for the consent page"', readScope)
    .option('--optional-scope <scope...>', 'the same, for scopes that users may leave out', readOptionalScope)
    .option(...DEFAULT_RESOURCE)
    .option('--public', "the app runs on users' devices and cannot keep a secret")
    .option('--jwks <file>', 'public keys (JWK or JWK Set): the app signs with its own key, and gets no secret')
    .option(...AUDIENCE, readAssertionAudience)
    .option(...CONSENT, readConsent)
    .option('--device', 'allow the device flow, for TVs and terminals')
    .option('--external-id', "include the product's own ID of the user in /v2/me")
    .option(...PERSON, readPersonFields)
    .option('--require-pkce', 'refuse requests without PKCE (always for a public app)')
    .option(...OVERLAP, readTimeSetting)
    .option(...RETRY_WINDOW, readTimeSetting)
    .option(...HAND_OVER)
    .action(async (options: RegisterOptions, command: CliCommand) => {
      const { from, name, handOver = false } = options;
      if (from !== undefined) return registerFrom(run, from, options, command);
      if (name === undefined) return command.error('give --name NAME, or --from URL');
      const settings = { ...(await newSettings(options)), name };
      await run.withInstallation(
        async (installation) => {
          const { clients, operator } = installation;
          const type = options.public ? 'public' : 'confidential';
          const made = await registered(installation, await clients.register(type, settings, operator, null, handOver));
          return withOmittedKeys(made, options.jwks === undefined ? undefined : settings.keys);
        },
        { mayCreate: true },
      );
    });
}

/** Shows what a metadata document says, asks, and registers its app. */
async function registerFrom(
  run: CommandRun,
  address: string,
  options: RegisterOptions,
  command: CliCommand,
): Promise<void> {
  const owned = (['redirectUri', 'public', 'jwks'] as const).find((option) => options[option] !== undefined);
  if (owned !== undefined)
    return command.error(
      `--${owned === 'redirectUri' ? 'redirect-uri' : owned} comes from the metadata document: omit it with --from`,
    );
  const { redirectUris: _uris, keys: _keys, ...said } = await newSettings(options);
  await run.withInstallation(
    async (installation) => {
      const { clientDocuments, operator } = installation;
      const fetched = await clientDocuments.fetch(address);
      const name = await clientDocuments.nameOf(fetched, options.name);
      for (const line of documentLines(fetched, name)) run.context.stderr.write(`${plain(line)}\n`);
      await confirm(run, 'client register', name);
      const made = await registered(
        installation,
        await clientDocuments.register(fetched, { ...said, name }, operator, options.handOver),
      );
      return { ...made, json: { ...(made.json as object), omitted_keys: fetched.omittedKeys } };
    },
    { mayCreate: true },
  );
}

async function registered(
  { clients, handOvers, endpoints }: Installation,
  { client, clientSecret, handOver }: Awaited<ReturnType<ClientRegistry['register']>>,
): Promise<CommandResult> {
  const warnings = await clients.warnings(client);
  if (!handOver) return fiveThings(client, clientSecret, endpoints, warnings);
  const made = handOvers.addressOf(handOver, { kind: 'client', row: client });
  const json = registeredClientJson(client, null, endpoints);
  const sentence = `${client.name} is registered as ${client.id}. Send its developer this address:`;
  return handedOver(made, json, sentence, [...warnings, nextAfterRegistering(client)]);
}

function addLooking(client: CliCommand, run: CommandRun): void {
  client
    .leaf('list', 'List apps, oldest first.', ['client list', 'client list --unused-since 90d', 'client list --json'])
    .option('--name <text>', 'only apps whose name contains this')
    .addOption(new Option('--state <state>', 'only apps in this state').choices(['active', 'paused']))
    .option(...UNUSED_SINCE)
    .option('--failing-since <time>', 'only apps with a refused request since then: 1h ago, or a time', readMoment)
    .option(...LIMIT)
    .option('--after <app>', 'only apps after this one, the last of the previous list')
    .action(({ limit, after, failingSince, ...asked }: ClientListOptions) =>
      run.withInstallation(async ({ clients }) => {
        const now = run.context.now();
        const failing = failingSince && { failing: spansSince(timeOf(failingSince, now), now) };
        const filter = { ...filterOf(asked, now), ...failing };
        const isFiltered = after !== undefined || Object.keys(filter).length > 0;
        return longList(run, listedClients(clients.list(filter, after ?? null), isFiltered), limit);
      }),
    );
  client
    .leaf('show <app>', 'Show one app, by its ID or its name, without its secret.', [
      'client show app_6qm1v0t4y8d3k2xz',
      'client show "Acme Mail"',
    ])
    .action((app: string) =>
      run.withInstallation(async ({ clients, secretUses, appActivity, handOvers }) => {
        const client = await clients.show(app);
        const now = run.context.now();
        const day = lastDay(await appActivity.find(client.id, now - DAY_MS, 1));
        const last = await findHandOverJson({ kind: 'client', id: client.id }, handOvers);
        const json = { ...day.json, hand_over: last };
        return shownClient(client, secretUses, { json, fields: [...day.fields, handOverField(last, now)] });
      }),
    );
}

function addUpdate(client: CliCommand, run: CommandRun): void {
  client
    .leaf('update <app>', 'Change the registration of an app. Give the app first, then the options.', [
      'client update app_6qm1v0t4y8d3k2xz --name "Acme Post"',
      'client update app_6qm1v0t4y8d3k2xz --add-redirect-uri https://acme.example/new',
      'client update app_6qm1v0t4y8d3k2xz --add-scope "read=Read your mail" --remove-scope send',
      'client update app_6qm1v0t4y8d3k2xz --optional-scope "send=Send mail" --consent remember',
      'client update app_6qm1v0t4y8d3k2xz --refresh-overlap 30s --refresh-retry-window default',
    ])
    .option('--name <name>', "the app's name, as users see it")
    .option(...PUBLISHER)
    .option('--no-publisher', 'remove the publisher')
    .option(...HOMEPAGE)
    .option('--no-homepage', 'remove the homepage')
    .option(...PRIVACY)
    .option('--no-privacy', 'remove the privacy page')
    .option(...CONTACT)
    .option('--no-contact', 'remove the contact')
    .option(...CHECKED)
    .option('--no-checked', 'you no longer vouch for it')
    .option('--redirect-uri <uri...>', 'replace all redirect URIs')
    .option('--add-redirect-uri <uri...>', 'add redirect URIs')
    .option('--remove-redirect-uri <uri...>', 'remove redirect URIs')
    .option('--scope <scope...>', 'replace all scopes that are not optional: NAME, or "NAME=…"', readScope)
    .option('--add-scope <scope...>', 'add scopes, in the same form', readScope)
    .option('--remove-scope <name...>', 'remove scopes, optional or not')
    .option('--no-scope', 'remove all scopes except those given here, optional or not')
    .option(
      '--optional-scope <scope...>',
      'replace all optional scopes; a required scope given here becomes optional',
      readOptionalScope,
    )
    .option('--add-optional-scope <scope...>', 'add optional scopes', readOptionalScope)
    .option('--no-optional-scope', 'remove all optional scopes')
    .option(...DEFAULT_RESOURCE)
    .option('--no-default-resource', 'leave tokens unbound when the app names no resource')
    .option('--jwks <file>', 'replace all public keys (JWK or JWK Set); a secret stays valid')
    .option('--no-jwks', 'remove all public keys')
    .option(...AUDIENCE, readAssertionAudience)
    .option(...CONSENT, readConsent)
    .option('--device', 'allow the device flow')
    .option('--no-device', 'refuse the device flow')
    .option('--external-id', "include the product's own ID of the user in /v2/me")
    .option('--no-external-id', "omit the product's own ID of the user from /v2/me")
    .option(...PERSON, readPersonFields)
    .option('--require-pkce', 'refuse requests without PKCE')
    .option('--no-require-pkce', 'accept requests without PKCE')
    .option(...OVERLAP, readTimeSetting)
    .option(...RETRY_WINDOW, readTimeSetting)
    .action((app: string, options: UpdateOptions, command: CliCommand) => {
      const { json: _, ...changes } = options as UpdateOptions & { json?: boolean };
      if (Object.keys(changes).length === 0) command.error('give at least one change');
      return run.withInstallation(async ({ clients, secretUses, operator }) => {
        const before = await clients.show(app);
        const settings = await changedSettings(before, changes);
        const updated = await clients.update(before.id, settings, operator);
        const known = await clients.warnings(before);
        const warnings = (await clients.warnings(updated)).filter((warning) => !known.includes(warning));
        const note = [noteOfUpdate(before, updated), ...warnings];
        return withOmittedKeys({ ...(await shownClient(updated, secretUses)), note }, settings.keys);
      });
    });
}

function addSecrets(client: CliCommand, run: CommandRun): void {
  client
    .leaf('rotate-secret <app>', 'Make a new secret. The previous one works until you retire it.', [
      'client rotate-secret app_6qm1v0t4y8d3k2xz',
      'client rotate-secret app_6qm1v0t4y8d3k2xz --hand-over',
    ])
    .option(...HAND_OVER)
    .action((app: string, { handOver }: HandOverOption) =>
      run.withInstallation(async ({ clients, handOvers, operator }) => {
        const next = (id: string) =>
          `Next: once the app uses it, retire the old secret: "valetkey client retire-secret ${id}".`;
        if (handOver) {
          const { id, name, secrets } = await clients.show(app);
          const made = await handOvers.make({ kind: 'client', id }, operator);
          return handedOver(
            made,
            { client_id: id, client_secret: null },
            `Send the developer of ${name} this address:`,
            secrets.length > 0 ? [next(id)] : [],
          );
        }
        const { client, clientSecret } = await clients.rotateSecret((await clients.show(app)).id, operator);
        const note = next(client.id);
        return {
          json: { client_id: client.id, client_secret: clientSecret },
          text: [`The new secret of ${client.name}:`, '', `  ${clientSecret}`, '', SHOWN_ONCE],
          ...(client.secrets.length > 1 ? { note } : {}),
        };
      }),
    );
  client
    .leaf('retire-secret <app>', 'End the older of two secrets.', ['client retire-secret app_6qm1v0t4y8d3k2xz'])
    .option(...NEWER)
    .action((app: string, { newer = false }: NewerOption) =>
      run.withInstallation(async ({ clients, secretUses, operator }) => {
        const which = newer ? 'newer' : 'older';
        const shown = await clients.show(app);
        const said = await beforeRetiring(run, 'client', shown, which, secretUses);
        return saidOfClient(await clients.retireSecret(shown.id, operator, which), secretUses, said);
      }),
    );
}

function addStopping(client: CliCommand, run: CommandRun): void {
  client
    .leaf('pause <app>', 'Refuse all requests of an app until "client resume". Ends no grant.', [
      'client pause app_6qm1v0t4y8d3k2xz',
    ])
    .action((app: string) =>
      run.withInstallation(async ({ clients, secretUses, operator }) => {
        const client = await clients.pause((await clients.show(app)).id, operator);
        return saidOfClient(client, secretUses, `${client.name} is paused; "client resume" restores everything.`);
      }),
    );
  client
    .leaf('resume <app>', 'End a pause: the grants of the app work again.', ['client resume app_6qm1v0t4y8d3k2xz'])
    .action((app: string) =>
      run.withInstallation(async ({ clients, secretUses, operator }) => {
        const client = await clients.resume((await clients.show(app)).id, operator);
        return saidOfClient(client, secretUses, `${client.name} is active again.`);
      }),
    );
  client
    .leaf('revoke-grants <app>', 'End all grants of an app. The app stays registered.', [
      'client revoke-grants app_6qm1v0t4y8d3k2xz',
    ])
    .action((app: string) =>
      run.withInstallation(async ({ clients, grants, secretUses, operator }) => {
        const { id, name } = await clients.show(app);
        await confirm(run, 'client revoke-grants', name, () => countedGrants(grants, { clientId: id }));
        return saidOfClient(await clients.revokeGrants(id, operator), secretUses, `All grants of ${name} are ended.`);
      }),
    );
  client
    .leaf('delete <app>', 'Delete an app and all its grants.', ['client delete app_6qm1v0t4y8d3k2xz --yes'])
    .action((app: string) =>
      run.withInstallation(async ({ clients, grants, secretUses, operator }) => {
        const { id, name } = await clients.show(app);
        await confirm(run, 'client delete', name, () => countedGrants(grants, { clientId: id }));
        const client = await clients.delete(id, operator);
        const json = { ...(await findClientJson(client, secretUses)), status: 'deleted' };
        return { json, text: [`${name} is deleted.`] };
      }),
    );
}
