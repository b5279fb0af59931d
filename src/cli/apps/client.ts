/** `client`: registers apps, and changes, shows, stops or deletes them. */
import { Option } from 'commander';
import type { Client } from '../../oauth/clients/client.ts';
import { findClientJson, registeredClientJson } from '../../operator/json/client.ts';
import { findHandOverJson } from '../../operator/json/hand-over.ts';
import type { Registered } from '../../operator/registration/registry.ts';
import type { CliCommand } from '../command/command.ts';
import type { CommandResult, CommandRun } from '../command/command-run.ts';
import type { Installation } from '../command/context.ts';
import { countedGrants } from '../grants/count-ended-grants.ts';
import { confirm } from '../input/confirm.ts';
import { filterOf, LIMIT, type ListOptions, longList, UNUSED_SINCE } from '../input/list-options.ts';
import { requireChange } from '../input/setting-options.ts';
import { type Moment, readMoment, timeOf } from '../input/shared-options.ts';
import { escapeForTerminal } from '../output/escape-for-terminal.ts';
import { HAND_OVER, handedOver, handOverField } from '../registrations/hand-over-view.ts';
import { withOmittedKeys } from '../registrations/omitted-keys.ts';
import { addDelete, addPausing } from '../registrations/registered-commands.ts';
import { addSecretCommands } from '../registrations/secrets.ts';
import { addFailures, lastDay } from './client-failures.ts';
import { addRefresh } from './client-refresh.ts';
import {
  addChangedSettings,
  addNewSettings,
  changedSettings,
  newSettings,
  type RegisterOptions,
  type UpdateOptions,
} from './client-settings.ts';
import {
  documentLines,
  fiveThings,
  listedClients,
  nextAfterRegistering,
  noteOfUpdate,
  saidOfClient,
  shownClient,
} from './client-view.ts';

const DAY_MS = 86_400_000;

const APPS = {
  kind: 'client',
  argument: '<app>',
  example: 'app_6qm1v0t4y8d3k2xz',
  user: 'app',
  members: ['client_id', 'client_secret'],
  registry: ({ clients }: Installation) => clients,
  json: findClientJson,
} as const;

type ClientListOptions = ListOptions<Client['status']> & { failingSince?: Moment };

/** Adds the commands about apps. */
export function addClientCommands(program: CliCommand, run: CommandRun): void {
  const client = program.group('client', 'Apps: register them, change them, stop them.');
  addRegister(client, run);
  addLooking(client, run);
  addFailures(client, run);
  addUpdate(client, run);
  addRefresh(client, run);
  addSecretCommands(client, run, APPS);
  addStopping(client, run);
}

function addRegister(client: CliCommand, run: CommandRun): void {
  const register = client.leaf('register', 'Register an app, and print the five things that its developer needs.', [
    'client register --name "Acme Mail" --redirect-uri https://acme.example/callback',
    'client register --name "Acme Mail" --redirect-uri https://acme.example/callback --scope "mail=Read your mail" --optional-scope "send=Send mail"',
    'client register --name "Acme Phone" --public --redirect-uri com.acme.phone:/callback --json',
    'client register --name "Acme Books" --jwks acme-keys.json --redirect-uri https://books.acme.example/callback',
    'client register --name "Acme TV" --public --device',
    'client register --name "Acme Notes" --redirect-uri https://notes.acme.example/cb --default-resource https://mail.example.com',
    'client register --from https://agent.example/client.json --scope "mail=Read your mail"',
  ]);
  addNewSettings(register)
    .option('--from <url>', "the URL of the app's metadata document, which becomes its client ID")
    .option('--public', "the app runs on users' devices and cannot keep a secret")
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
          return withOmittedKeys(made, settings.keys);
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
  const owned = (['redirectUri', 'public', 'jwks'] as const).find((option) => option in options);
  if (owned !== undefined)
    return command.error(
      `--${owned === 'redirectUri' ? 'redirect-uri' : owned} comes from the metadata document: omit it with --from`,
    );
  const said = await newSettings(options);
  await run.withInstallation(
    async (installation) => {
      const { clientDocuments, operator } = installation;
      const fetched = await clientDocuments.fetch(address);
      const name = await clientDocuments.nameOf(fetched, options.name);
      for (const line of documentLines(fetched, name)) run.context.stderr.write(`${escapeForTerminal(line)}\n`);
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
  { row: client, secret, handOver }: Registered<Client>,
): Promise<CommandResult> {
  const warnings = await clients.warnings(client);
  if (!handOver) return fiveThings(client, secret, endpoints, warnings);
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
    .acts(run, async ({ clients }, { limit, after, failingSince, ...asked }: ClientListOptions) => {
      const now = run.context.now();
      const failing = failingSince && { failingSince: timeOf(failingSince, now) };
      const filter = { ...filterOf(asked, now), ...failing };
      const isFiltered = after !== undefined || Object.keys(filter).length > 0;
      return longList(run, listedClients(clients.list(filter, after ?? null), isFiltered), limit);
    });
  client
    .leaf('show <app>', 'Show one app, by its ID or its name, without its secret.', [
      'client show app_6qm1v0t4y8d3k2xz',
      'client show "Acme Mail"',
    ])
    .acts(run, async ({ clients, secretUses, appActivity, handOvers }, app: string) => {
      const client = await clients.show(app);
      const now = run.context.now();
      const day = lastDay(await appActivity.find(client.id, now - DAY_MS, 1));
      const last = await findHandOverJson({ kind: 'client', id: client.id }, handOvers);
      const json = { ...day.json, hand_over: last };
      return shownClient(client, secretUses, { json, fields: [...day.fields, handOverField(last, now)] });
    });
}

function addUpdate(client: CliCommand, run: CommandRun): void {
  const update = client.leaf(
    'update <app>',
    'Change the registration of an app. Give the app first, then the options.',
    [
      'client update app_6qm1v0t4y8d3k2xz --name "Acme Post"',
      'client update app_6qm1v0t4y8d3k2xz --add-redirect-uri https://acme.example/new',
      'client update app_6qm1v0t4y8d3k2xz --add-scope "read=Read your mail" --remove-scope send',
      'client update app_6qm1v0t4y8d3k2xz --optional-scope "send=Send mail" --consent remember',
      'client update app_6qm1v0t4y8d3k2xz --refresh-overlap 30s --refresh-retry-window default',
    ],
  );
  addChangedSettings(update).action((app: string, options: UpdateOptions, command: CliCommand) => {
    requireChange(command, options);
    return run.withInstallation(async ({ clients, secretUses, operator }) => {
      const before = await clients.show(app);
      const settings = await changedSettings(before, options);
      const updated = await clients.update(before.id, settings, operator);
      const known = await clients.warnings(before);
      const warnings = (await clients.warnings(updated)).filter((warning) => !known.includes(warning));
      const note = [noteOfUpdate(before, updated), ...warnings];
      return withOmittedKeys({ ...(await shownClient(updated, secretUses)), note }, settings.keys);
    });
  });
}

function addStopping(client: CliCommand, run: CommandRun): void {
  const pausing = 'Refuse all requests of an app until "client resume". Ends no grant.';
  addPausing(client, run, APPS, 'pause', pausing, 'is paused; "client resume" restores everything.');
  addPausing(client, run, APPS, 'resume', 'End a pause: the grants of the app work again.', 'is active again.');
  client
    .leaf('revoke-grants <app>', 'End all grants of an app. The app stays registered.', [
      'client revoke-grants app_6qm1v0t4y8d3k2xz',
    ])
    .acts(run, async ({ clients, grants, secretUses, operator }, app: string) => {
      const { id, name } = await clients.show(app);
      await confirm(run, 'client revoke-grants', name, () => countedGrants(grants, { clientId: id }));
      return saidOfClient(await clients.revokeGrants(id, operator), secretUses, `All grants of ${name} are ended.`);
    });
  addDelete(client, run, APPS, 'Delete an app and all its grants.', ({ id, name }, { grants }) =>
    confirm(run, 'client delete', name, () => countedGrants(grants, { clientId: id })),
  );
}
