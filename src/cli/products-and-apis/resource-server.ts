/** `resource-server`: registers and changes the APIs that check access tokens. */
import { Option } from 'commander';
import { RESOURCE_SERVER_SETTINGS } from '../../operator/fields/resource-server-fields.ts';
import { withDefaults } from '../../operator/fields/setting.ts';
import { findResourceServerJson, registeredResourceServerJson } from '../../operator/json/resource-server.ts';
import type { CliCommand } from '../command/command.ts';
import type { CommandRun } from '../command/command-run.ts';
import type { Installation } from '../command/context.ts';
import { confirm } from '../input/confirm.ts';
import { addSettings, requireChange, settingsIn } from '../input/setting-options.ts';
import { HAND_OVER, type HandOverOption, handedOver } from '../registrations/hand-over-view.ts';
import { addDelete, addLooking } from '../registrations/registered-commands.ts';
import { addSecretCommands } from '../registrations/secrets.ts';
import {
  lostDefaultLine,
  nextAfterRegistering,
  RESOURCE_SERVERS,
  registeredResourceServer,
  resourceServerWithCodex,
  shownResourceServer,
} from './resource-server-view.ts';

const APIS = {
  kind: 'resource_server',
  argument: '<id>',
  example: 'rs_6qm1v0t4y8d3k2xz',
  user: 'API',
  members: ['resource_server_id', 'resource_server_secret'],
  registry: ({ resourceServers }: Installation) => resourceServers,
  json: findResourceServerJson,
} as const;

/** Adds the commands about resource servers. */
export function addResourceServerCommands(program: CliCommand, run: CommandRun): void {
  const group = program.group('resource-server', 'Resource servers: your APIs that check the access tokens of apps.');
  addRegister(group, run);
  addLooking(group, run, APIS, {
    sentences: ['List all resource servers, oldest first.', 'Show one resource server, without its secret.'],
    examples: ['resource-server list', 'resource-server list --json'],
    listing: RESOURCE_SERVERS,
    shown: resourceServerWithCodex,
  });
  addUpdate(group, run);
  addSecretCommands(group, run, APIS);
  addDelete(
    group,
    run,
    APIS,
    'Delete a resource server. It can no longer check tokens; no grant ends.',
    ({ name }) => confirm(run, 'resource-server delete', name),
    async ({ resourceServers }) => (await resourceServers.lostDefaults()).map(lostDefaultLine),
  );
}

function addRegister(group: CliCommand, run: CommandRun): void {
  const register = group.leaf(
    'register',
    'Register an API, and print what its developer needs to check access tokens.',
    [
      'resource-server register --name "Mail API"',
      'resource-server register --name "Mail API" --resource https://mail.example.com --scope mail.read mail.send',
    ],
  );
  addSettings(register, RESOURCE_SERVER_SETTINGS, 'register')
    .option(...HAND_OVER)
    .acts(run, async ({ resourceServers, handOvers, endpoints, operator }, options: HandOverOption) => {
      const settings = withDefaults(RESOURCE_SERVER_SETTINGS, await settingsIn(RESOURCE_SERVER_SETTINGS, options));
      const isHandedOver = options.handOver ?? false;
      const registered = await resourceServers.register(settings, operator, isHandedOver);
      const { row: resourceServer, secret, handOver: made } = registered;
      if (made === null) return registeredResourceServer(resourceServer, secret as string, endpoints);
      const address = handOvers.addressOf(made, { kind: 'resource_server', row: resourceServer });
      const json = registeredResourceServerJson(resourceServer, null, endpoints);
      const sentence = `${resourceServer.name} is registered as ${resourceServer.id}. Send its developer this address:`;
      return handedOver(address, json, sentence, [nextAfterRegistering(resourceServer)]);
    });
}

function addUpdate(group: CliCommand, run: CommandRun): void {
  const update = group.leaf(
    'update <id>',
    'Change the settings of a resource server. Give its ID first, then the options.',
    [
      'resource-server update rs_6qm1v0t4y8d3k2xz --resource https://mail.example.com',
      'resource-server update rs_6qm1v0t4y8d3k2xz --scope mail.read mail.send',
      'resource-server update rs_6qm1v0t4y8d3k2xz --no-resource --all-scopes',
    ],
  );
  addSettings(update, RESOURCE_SERVER_SETTINGS, 'update', {
    scopes: (its) =>
      its
        .option('--scope <name...>', 'replace the scopes that the API sees')
        .addOption(new Option('--all-scopes', 'the API sees every scope').conflicts('scope')),
  }).action((id: string, options: { allScopes?: boolean }, command: CliCommand) => {
    requireChange(command, options);
    return run.withInstallation(async ({ resourceServers, secretUses, operator }) => {
      const given = await settingsIn(RESOURCE_SERVER_SETTINGS, options);
      const changes = { ...given, ...(options.allScopes ? { scopes: null } : {}) };
      const updated = await resourceServers.update(id, changes, operator);
      const note = [`${updated.name} is updated.`, ...(await resourceServers.lostDefaults()).map(lostDefaultLine)];
      return { ...(await shownResourceServer(updated, secretUses)), note };
    });
  });
}
