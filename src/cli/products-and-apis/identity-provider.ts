/** `identity-provider`: registers the products where people sign in elsewhere, and changes them. */
import { NEW_PROVIDER_SETTINGS, PROVIDER_SETTINGS } from '../../operator/fields/identity-provider-fields.ts';
import { withDefaults } from '../../operator/fields/setting.ts';
import { findIdentityProviderJson, registeredProviderJson } from '../../operator/json/identity-provider.ts';
import type { CliCommand } from '../command/command.ts';
import type { CommandRun } from '../command/command-run.ts';
import type { Installation } from '../command/context.ts';
import { PeriodicLines } from '../command/progress.ts';
import { confirm } from '../input/confirm.ts';
import { addSettings, requireChange, settingsIn } from '../input/setting-options.ts';
import { type Moment, readMoment, timeOf } from '../input/shared-options.ts';
import { exactTime } from '../output/time.ts';
import { HAND_OVER, type HandOverOption, handedOver } from '../registrations/hand-over-view.ts';
import { withOmittedKeys } from '../registrations/omitted-keys.ts';
import { addDelete, addLooking, addPausing } from '../registrations/registered-commands.ts';
import { addSecretCommands } from '../registrations/secrets.ts';
import {
  allEnded,
  IDENTITY_PROVIDERS,
  nextAfterRegistering,
  registeredProvider,
  shownProvider,
  testedProvider,
} from './identity-provider-view.ts';

const PRODUCTS = {
  kind: 'identity_provider',
  argument: '<id>',
  example: 'product',
  user: 'product',
  members: ['provider_id', 'provider_secret'],
  registry: ({ identityProviders }: Installation) => identityProviders,
  json: findIdentityProviderJson,
} as const;

/** Adds the commands about identity providers. */
export function addIdentityProviderCommands(program: CliCommand, run: CommandRun): void {
  const group = program.group('identity-provider', 'Identity providers: your products that sign their own users in.');
  addRegister(group, run);
  addLooking(group, run, PRODUCTS, {
    sentences: ['List all identity providers, oldest first.', 'Show one identity provider, without its secret.'],
    examples: ['identity-provider list --json'],
    listing: IDENTITY_PROVIDERS,
    shown: shownProvider,
  });
  addUpdate(group, run);
  addTest(group, run);
  addSecretCommands(group, run, PRODUCTS);
  addStopping(group, run);
}

function addRegister(group: CliCommand, run: CommandRun): void {
  const register = group.leaf(
    'register',
    'Register a product that signs its own users in, and print what its developer needs.',
    [
      'identity-provider register --id product --name "Photos" --sign-in-url https://app.example/oauth/sign-in',
      'identity-provider register --id product --name "Photos" --sign-in-url https://app.example/sign-in --own-ids',
    ],
  );
  addSettings(register, NEW_PROVIDER_SETTINGS, 'register')
    .option(...HAND_OVER)
    .action((options: HandOverOption) =>
      run.withInstallation(
        async ({ identityProviders, handOvers, endpoints, operator }) => {
          const given = await settingsIn(NEW_PROVIDER_SETTINGS, options);
          const settings = withDefaults(NEW_PROVIDER_SETTINGS, given);
          const registered = await identityProviders.register(settings, operator, options.handOver);
          const { row: provider, secret, handOver: made } = registered;
          if (!made) return withOmittedKeys(registeredProvider(provider, secret, endpoints), given.keys);
          const address = handOvers.addressOf(made, { kind: 'identity_provider', row: provider });
          const json = registeredProviderJson(provider, null, endpoints);
          const sentence = `${provider.name} is registered. Send its developer this address:`;
          return withOmittedKeys(handedOver(address, json, sentence, [nextAfterRegistering(provider)]), given.keys);
        },
        { mayCreate: true },
      ),
    );
}

function addTest(group: CliCommand, run: CommandRun): void {
  group
    .leaf(
      'test <id>',
      'Test the setup of an identity provider, with one request to its sign-in address; exits 1 if something is wrong.',
      ['identity-provider test product', 'identity-provider test product --json'],
    )
    .acts(run, async ({ testProvider }, id: string) => testedProvider(await testProvider(id)));
}

function addUpdate(group: CliCommand, run: CommandRun): void {
  const update = group.leaf(
    'update <id>',
    'Change the settings of an identity provider. Give its ID first, then the options.',
    [
      'identity-provider update product --sign-in-url https://app.example/oauth/sign-in',
      'identity-provider update product --rights sign-in,users --session 12h',
    ],
  );
  addSettings(update, PROVIDER_SETTINGS, 'update').action((id: string, options: object, command: CliCommand) => {
    requireChange(command, options);
    return run.withInstallation(async ({ identityProviders, secretUses, operator }) => {
      const changes = await settingsIn(PROVIDER_SETTINGS, options);
      const updated = await identityProviders.update(id, changes, operator);
      const result = { ...(await shownProvider(updated, secretUses)), note: `${updated.name} is updated.` };
      return withOmittedKeys(result, changes.keys);
    });
  });
}

function addStopping(group: CliCommand, run: CommandRun): void {
  addPausing(
    group,
    run,
    PRODUCTS,
    'pause',
    'Refuse sign-in with an identity provider until "identity-provider resume". Sessions and grants stay.',
    'is paused: nobody can sign in with it, and its own requests are refused. "identity-provider resume" ends the pause.',
  );
  group
    .leaf(
      'end-all <id>',
      'End all pending sign-ins, sessions and grants that came through an identity provider since a time.',
      ['identity-provider end-all product --since 12h', 'identity-provider end-all product --since 2026-11-24T09:30'],
    )
    .requiredOption(
      '--since <time>',
      'the earliest possible time of the compromise: 12h or 7d ago, or a time',
      readMoment,
    )
    .acts(run, (installation, id: string, { since }: { since: Moment }) => endAll(installation, run, id, since));
  addPausing(group, run, PRODUCTS, 'resume', 'Allow sign-in with an identity provider again.', 'is active again.');
  addDelete(group, run, PRODUCTS, 'Delete an identity provider without linked accounts.', ({ name }) =>
    confirm(run, 'identity-provider delete', name),
  );
}

async function endAll({ identityProviders, operator }: Installation, run: CommandRun, id: string, moment: Moment) {
  const since = timeOf(moment, run.context.now());
  const { name } = await identityProviders.show(id);
  await confirm(run, 'identity-provider end-all', name, exactTime(since));
  const lines = new PeriodicLines(run.context);
  const { provider, ended } = await identityProviders.endAll(id, since, operator, ({ sessions, grants }) =>
    lines.say(`${sessions} sessions and ${grants} grants are ended so far`),
  );
  return allEnded(provider, since, ended);
}
