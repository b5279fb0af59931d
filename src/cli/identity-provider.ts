/** `identity-provider`: registers the products where people sign in elsewhere, and changes them. */
import { Option } from 'commander';
import { PROVIDER_RIGHTS, type ProviderRight } from '../accounts/people/identity-provider.ts';
import type { IdentityProviderSettings } from '../operator/identity-provider-registry.ts';
import { findHandOverJson } from '../operator/json/hand-over.ts';
import { findIdentityProviderJson, registeredProviderJson } from '../operator/json/identity-provider.ts';
import { SHOWN_ONCE } from './client-view.ts';
import type { CliCommand } from './command.ts';
import type { CommandRun } from './command-run.ts';
import { confirm } from './confirm.ts';
import type { Installation } from './context.ts';
import { HAND_OVER, type HandOverOption, handedOver, withHandOver } from './hand-over-view.ts';
import {
  allEnded,
  listedProviders,
  nextAfterRegistering,
  registeredProvider,
  shownProvider,
  testedProvider,
} from './identity-provider-view.ts';
import { readJwksFile } from './jwks-file.ts';
import { withOmittedKeys } from './omitted-keys.ts';
import {
  type Moment,
  NEWER,
  type NewerOption,
  readMoment,
  readRights,
  readTimeSetting,
  secondsOf,
  type TimeSetting,
  timeOf,
} from './option.ts';
import { PeriodicLines } from './progress.ts';
import { beforeRetiring } from './secret-view.ts';
import { exactTime } from './time.ts';

type SettingOptions = {
  name?: string;
  signInUrl?: string;
  jwks?: string;
  rights?: readonly ProviderRight[];
  session?: TimeSetting;
};
type RegisterOptions = SettingOptions & {
  id: string;
  name: string;
  signInUrl: string;
  ownIds?: boolean;
} & HandOverOption;

const RIGHTS = ['--rights <rights>', `its rights: ${PROVIDER_RIGHTS.join(',')} or one of them`] as const;
const SESSION = [
  '--session <time>',
  'how long a sign-in lasts, such as 12h; "default" is 10 minutes, for one request only',
] as const;

/** Adds the commands about identity providers. */
export function addIdentityProviderCommands(program: CliCommand, run: CommandRun): void {
  const group = program.group('identity-provider', 'Identity providers: your products that sign their own users in.');
  addRegister(group, run);
  addLooking(group, run);
  addUpdate(group, run);
  addTest(group, run);
  addSecrets(group, run);
  addStopping(group, run);
}

function addRegister(group: CliCommand, run: CommandRun): void {
  group
    .leaf('register', 'Register a product that signs its own users in, and print what its developer needs.', [
      'identity-provider register --id product --name "Photos" --sign-in-url https://app.example/oauth/sign-in',
      'identity-provider register --id product --name "Photos" --sign-in-url https://app.example/sign-in --own-ids',
    ])
    .requiredOption('--id <id>', 'a short ID of your choice: a-z, 0-9 and -; with the subject, it identifies a user')
    .requiredOption('--name <name>', "the product's name, as users see it")
    .requiredOption('--sign-in-url <address>', 'where a browser goes to sign in')
    .option('--jwks <file>', 'public keys (JWK or JWK Set): it signs with its own key, and gets no secret')
    .option('--own-ids', 'use its subjects as the IDs of accounts; excludes other providers and passwords')
    .addOption(new Option(...RIGHTS).argParser(readRights))
    .option(...SESSION, readTimeSetting)
    .option(...HAND_OVER)
    .action((options: RegisterOptions) =>
      run.withInstallation(
        async ({ identityProviders, handOvers, endpoints, operator }) => {
          const { id, name, signInUrl, ownIds = false, rights = ['sign-in'] } = options;
          const keys = options.jwks === undefined ? [] : await readJwksFile(options.jwks);
          const sessionLifetime = secondsOf(options.session);
          const settings = { id, name, signInUrl, ownIds, rights, keys, sessionLifetime };
          const registered = await identityProviders.register(settings, operator, options.handOver);
          const { provider, secret, handOver: made } = registered;
          const given = options.jwks === undefined ? undefined : keys;
          if (!made) return withOmittedKeys(registeredProvider(provider, secret, endpoints), given);
          const address = handOvers.addressOf(made, { kind: 'identity_provider', row: provider });
          const json = registeredProviderJson(provider, null, endpoints);
          const sentence = `${name} is registered. Send its developer this address:`;
          return withOmittedKeys(handedOver(address, json, sentence, [nextAfterRegistering(provider)]), given);
        },
        { mayCreate: true },
      ),
    );
}

function addLooking(group: CliCommand, run: CommandRun): void {
  group
    .leaf('list', 'List all identity providers, oldest first.', ['identity-provider list --json'])
    .action(() =>
      run.withInstallation(async ({ identityProviders, secretUses }) =>
        listedProviders(await identityProviders.list(), secretUses, run.width),
      ),
    );
  group
    .leaf('show <id>', 'Show one identity provider, without its secret.', ['identity-provider show product'])
    .action((id: string) =>
      run.withInstallation(async ({ identityProviders, secretUses, handOvers }) => {
        const last = await findHandOverJson({ kind: 'identity_provider', id }, handOvers);
        return withHandOver(await shownProvider(await identityProviders.show(id), secretUses), last, run.context.now());
      }),
    );
}

function addTest(group: CliCommand, run: CommandRun): void {
  group
    .leaf(
      'test <id>',
      'Test the setup of an identity provider, with one request to its sign-in address; exits 1 if something is wrong.',
      ['identity-provider test product', 'identity-provider test product --json'],
    )
    .action((id: string) => run.withInstallation(async ({ testProvider }) => testedProvider(await testProvider(id))));
}

function addUpdate(group: CliCommand, run: CommandRun): void {
  group
    .leaf('update <id>', 'Change the settings of an identity provider. Give its ID first, then the options.', [
      'identity-provider update product --sign-in-url https://app.example/oauth/sign-in',
      'identity-provider update product --rights sign-in,users --session 12h',
    ])
    .option('--name <name>', "the product's name, as users see it")
    .option('--sign-in-url <address>', 'where a browser goes to sign in')
    .option('--jwks <file>', 'replace all public keys (JWK or JWK Set)')
    .addOption(new Option(...RIGHTS).argParser(readRights))
    .option(...SESSION, readTimeSetting)
    .action((id: string, options: SettingOptions, command: CliCommand) => {
      if (Object.keys(options).length === 0) command.error('give at least one change');
      return run.withInstallation(async ({ identityProviders, secretUses, operator }) => {
        const changes = await changedSettings(options);
        const updated = await identityProviders.update(id, changes, operator);
        const result = { ...(await shownProvider(updated, secretUses)), note: `${updated.name} is updated.` };
        return withOmittedKeys(result, changes.keys);
      });
    });
}

async function changedSettings(options: SettingOptions): Promise<Partial<IdentityProviderSettings>> {
  const { name, signInUrl, rights, session, jwks } = options;
  return {
    ...(name === undefined ? {} : { name }),
    ...(signInUrl === undefined ? {} : { signInUrl }),
    ...(jwks === undefined ? {} : { keys: await readJwksFile(jwks) }),
    ...(rights === undefined ? {} : { rights }),
    ...(session === undefined ? {} : { sessionLifetime: secondsOf(session) }),
  };
}

function addSecrets(group: CliCommand, run: CommandRun): void {
  group
    .leaf('rotate-secret <id>', 'Make a new secret. The previous one works until you retire it.', [
      'identity-provider rotate-secret product',
    ])
    .option(...HAND_OVER)
    .action((id: string, { handOver }: HandOverOption) =>
      run.withInstallation(async ({ identityProviders, handOvers, operator }) => {
        const note = `Next: once the product uses it, retire the old secret: "valetkey identity-provider retire-secret ${id}".`;
        if (handOver) {
          const { name, secrets } = await identityProviders.show(id);
          const made = await handOvers.make({ kind: 'identity_provider', id }, operator);
          const json = { provider_id: id, provider_secret: null };
          return handedOver(
            made,
            json,
            `Send the developer of ${name} this address:`,
            secrets.length > 0 ? [note] : [],
          );
        }
        const { provider, secret } = await identityProviders.rotateSecret(id, operator);
        return {
          json: { provider_id: id, provider_secret: secret },
          text: [`The new secret of ${provider.name}:`, '', `  ${secret}`, '', SHOWN_ONCE],
          note,
        };
      }),
    );
  group
    .leaf('retire-secret <id>', 'End the older of two secrets.', ['identity-provider retire-secret product'])
    .option(...NEWER)
    .action((id: string, { newer = false }: NewerOption) =>
      run.withInstallation(async ({ identityProviders, secretUses, operator }) => {
        const which = newer ? 'newer' : 'older';
        const said = await beforeRetiring(
          run,
          'identity-provider',
          await identityProviders.show(id),
          which,
          secretUses,
        );
        const provider = await identityProviders.retireSecret(id, operator, which);
        return { json: await findIdentityProviderJson(provider, secretUses), text: [said] };
      }),
    );
}

function addStopping(group: CliCommand, run: CommandRun): void {
  const act = (name: 'pause' | 'resume', summary: string, sentence: string, example: string) =>
    group.leaf(`${name} <id>`, summary, [example]).action((id: string) =>
      run.withInstallation(async ({ identityProviders, secretUses, operator }: Installation) => {
        const provider = await identityProviders[name](id, operator);
        return { json: await findIdentityProviderJson(provider, secretUses), text: [`${provider.name} ${sentence}`] };
      }),
    );
  act(
    'pause',
    'Refuse sign-in with an identity provider until "identity-provider resume". Sessions and grants stay.',
    'is paused: nobody can sign in with it, and its own requests are refused. "identity-provider resume" ends the pause.',
    'identity-provider pause product',
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
    .action((id: string, { since }: { since: Moment }) =>
      run.withInstallation((installation) => endAll(installation, run, id, since)),
    );
  act(
    'resume',
    'Allow sign-in with an identity provider again.',
    'is active again.',
    'identity-provider resume product',
  );
  group
    .leaf('delete <id>', 'Delete an identity provider without linked accounts.', [
      'identity-provider delete product --yes',
    ])
    .action((id: string) =>
      run.withInstallation(async ({ identityProviders, secretUses, operator }) => {
        const { name } = await identityProviders.show(id);
        await confirm(run, 'identity-provider delete', name);
        const provider = await identityProviders.delete(id, operator);
        return {
          json: { ...(await findIdentityProviderJson(provider, secretUses)), status: 'deleted' },
          text: [`${name} is deleted.`],
        };
      }),
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
