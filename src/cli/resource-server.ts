/** `resource-server`: registers and changes the APIs that check access tokens. */
import { Option } from 'commander';
import { RESOURCE_SERVER_SETTINGS } from '../operator/fields/resource-server-fields.ts';
import { withDefaults } from '../operator/fields/setting.ts';
import { findHandOverJson } from '../operator/json/hand-over.ts';
import { findResourceServerJson, registeredResourceServerJson } from '../operator/json/resource-server.ts';
import type { CliCommand } from './command.ts';
import type { CommandRun } from './command-run.ts';
import { confirm } from './confirm.ts';
import { HAND_OVER, type HandOverOption, handedOver, withHandOver } from './hand-over-view.ts';
import {
  listedResourceServers,
  lostDefaultLine,
  nextAfterRegistering,
  registeredResourceServer,
  resourceServerWithCodex,
  shownResourceServer,
} from './resource-server-view.ts';
import { addSecretCommands } from './secrets.ts';
import { addSettings, requireChange, settingsIn } from './setting-options.ts';

/** Adds the commands about resource servers. */
export function addResourceServerCommands(program: CliCommand, run: CommandRun): void {
  const group = program.group('resource-server', 'Resource servers: your APIs that check the access tokens of apps.');
  addRegister(group, run);
  addLooking(group, run);
  addUpdate(group, run);
  addSecrets(group, run);
  addDelete(group, run);
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
    .action((options: HandOverOption) =>
      run.withInstallation(async ({ resourceServers, handOvers, endpoints, operator }) => {
        const settings = withDefaults(RESOURCE_SERVER_SETTINGS, await settingsIn(RESOURCE_SERVER_SETTINGS, options));
        const isHandedOver = options.handOver ?? false;
        const registered = await resourceServers.register(settings, operator, isHandedOver);
        const { resourceServer, secret, handOver: made } = registered;
        if (made === null) return registeredResourceServer(resourceServer, secret as string, endpoints);
        const address = handOvers.addressOf(made, { kind: 'resource_server', row: resourceServer });
        const json = registeredResourceServerJson(resourceServer, null, endpoints);
        const sentence = `${resourceServer.name} is registered as ${resourceServer.id}. Send its developer this address:`;
        return handedOver(address, json, sentence, [nextAfterRegistering(resourceServer)]);
      }),
    );
}

function addLooking(group: CliCommand, run: CommandRun): void {
  group
    .leaf('list', 'List all resource servers, oldest first.', ['resource-server list', 'resource-server list --json'])
    .action(() =>
      run.withInstallation(async ({ resourceServers, secretUses }) =>
        listedResourceServers(await resourceServers.list(), secretUses, run.width),
      ),
    );
  group
    .leaf('show <id>', 'Show one resource server, without its secret.', ['resource-server show rs_6qm1v0t4y8d3k2xz'])
    .action((id: string) =>
      run.withInstallation(async ({ resourceServers, secretUses, handOvers }) => {
        const last = await findHandOverJson({ kind: 'resource_server', id }, handOvers);
        const shown = await resourceServerWithCodex(await resourceServers.show(id), secretUses);
        return withHandOver(shown, last, run.context.now());
      }),
    );
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

function addSecrets(group: CliCommand, run: CommandRun): void {
  addSecretCommands(group, run, {
    ...{ group: 'resource-server', kind: 'resource_server', argument: '<id>', example: 'rs_6qm1v0t4y8d3k2xz' },
    ...{ user: 'API', members: ['resource_server_id', 'resource_server_secret'] },
    show: ({ resourceServers }, id) => resourceServers.show(id),
    async rotate({ resourceServers, operator }, id) {
      const { resourceServer: row, secret } = await resourceServers.rotateSecret(id, operator);
      return { row, secret };
    },
    retire: ({ resourceServers, operator }, id, which) => resourceServers.retireSecret(id, operator, which),
    json: findResourceServerJson,
  });
}

function addDelete(group: CliCommand, run: CommandRun): void {
  group
    .leaf('delete <id>', 'Delete a resource server. It can no longer check tokens; no grant ends.', [
      'resource-server delete rs_6qm1v0t4y8d3k2xz --yes',
    ])
    .action((id: string) =>
      run.withInstallation(async ({ resourceServers, secretUses, operator }) => {
        const { name } = await resourceServers.show(id);
        await confirm(run, 'resource-server delete', name);
        const server = await resourceServers.delete(id, operator);
        return {
          json: { ...(await findResourceServerJson(server, secretUses)), status: 'deleted' },
          text: [`${name} is deleted.`],
          note: (await resourceServers.lostDefaults()).map(lostDefaultLine),
        };
      }),
    );
}
