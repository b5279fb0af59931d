/** `operator`: adds and changes the operators who use the API and the console, and their keys. */
import { InvalidArgumentError, Option } from 'commander';
import { type Operator, ROLES, type Role } from '../../operator/access/operator.ts';
import type { OperatorRegistry } from '../../operator/access/operators.ts';
import { RIGHTS, type Right } from '../../operator/access/rights.ts';
import { keyJson, operatorJson, usedKeyJson } from '../../operator/json/operator.ts';
import { readDuration } from '../../settings/duration.ts';
import type { CliCommand } from '../command/command.ts';
import type { CommandResult, CommandRun } from '../command/command-run.ts';
import type { Installation } from '../command/context.ts';
import { confirm } from '../input/confirm.ts';
import { shortList } from '../output/table.ts';
import {
  addedProgram,
  keysOf,
  newKeyResult,
  OPERATORS,
  oneTimeLinkResult,
  operatorActResult,
  shownOperator,
} from './operator-view.ts';

/** Adds the commands about operators. */
export function addOperatorCommands(program: CliCommand, run: CommandRun): void {
  const group = program.group('operator', 'Operators: the people and programs that use the API and the console.');
  addMaking(group, run);
  addLooking(group, run);
  addStopping(group, run);
  addAddresses(group, run);
  addKeys(group, run);
}

function addMaking(group: CliCommand, run: CommandRun): void {
  group
    .leaf('add <name>', 'Add an operator, and print a one-time link to enroll a passkey at.', [
      'operator add "Ada Lovelace" --role admin',
      'operator add portal --role support --no-link',
    ])
    .addOption(roleOption('the rights of the operator').makeOptionMandatory())
    .option('--no-link', 'for a program, which needs a key: print no link')
    .acts(run, async ({ operatorRegistry, operator }, name: string, { role, link }: { role: Role; link: boolean }) => {
      if (!link) return addedProgram(await operatorRegistry.addProgram(name, role, operator));
      const made = await operatorRegistry.add(name, role, operator);
      return oneTimeLinkResult(made, `${made.operator.name} is added. Within 24 hours, enroll a passkey at:`);
    });
  group
    .leaf('update <operator>', 'Change the name or the role of an operator.', [
      'operator update "Ada Lovelace" --role support',
      'operator update opr_6qm1v0t4y8d3k2xz --name Ada',
    ])
    .option('--name <name>', 'the name of the operator, which no other operator has')
    .addOption(roleOption('the rights of the operator'))
    .action((named: string, { name, role }: { name?: string; role?: Role }, command: CliCommand) => {
      const changes = { ...(name === undefined ? {} : { name }), ...(role === undefined ? {} : { role }) };
      if (Object.keys(changes).length === 0) command.error('give at least one change');
      return run.withInstallation(async ({ operatorRegistry, operator }) => {
        const before = await operatorRegistry.find(named);
        const updated = await operatorRegistry.update(before.id, changes, operator);
        const said = operatorActResult(updated, `${updated.name} is updated.`);
        const undo = `To undo this: "valetkey operator update ${updated.id} --role admin".`;
        return updated.role === before.role ? said : warned(operatorRegistry, before, said, undo);
      });
    });
}

function roleOption(sentence: string): Option {
  return new Option('--role <role>', sentence).choices(ROLES);
}

function addLooking(group: CliCommand, run: CommandRun): void {
  group
    .leaf('list', 'List all operators, oldest first.', ['operator list', 'operator list --json'])
    .acts(run, async ({ operatorRegistry }) =>
      shortList(OPERATORS, (await operatorRegistry.list()).map(operatorJson), run.width),
    );
  group
    .leaf('show <operator>', 'Show one operator, with passkeys, sessions and keys.', ['operator show "Ada Lovelace"'])
    .acts(run, async ({ operatorRegistry }, named: string) => shownOperator(await operatorRegistry.show(named)));
}

function addStopping(group: CliCommand, run: CommandRun): void {
  group
    .leaf('disable <operator>', 'Refuse everything of an operator; end sessions, keys and one-time links.', [
      'operator disable "Ada Lovelace"',
    ])
    .acts(run, async ({ operatorRegistry, operator }, named: string) => {
      const disabled = await operatorRegistry.disable(named, operator);
      const sentence = `${disabled.name} is disabled. Sessions, keys and one-time links ended; passkeys stay.`;
      const undo = `To undo this: "valetkey operator enable ${disabled.id}".`;
      return warned(operatorRegistry, disabled, operatorActResult(disabled, sentence), undo);
    });
  group
    .leaf('enable <operator>', 'Let a disabled operator sign in again, with the passkeys from before.', [
      'operator enable "Ada Lovelace"',
    ])
    .acts(run, async ({ operatorRegistry, operator }, named: string) => {
      const enabled = await operatorRegistry.enable(named, operator);
      return operatorActResult(enabled, `${enabled.name} is active again.`);
    });
  group
    .leaf(
      'end-sessions <operator>',
      'Sign an operator out everywhere, and end open one-time links. Passkeys and keys stay.',
      ['operator end-sessions "Ada Lovelace"'],
    )
    .acts(run, async ({ operatorRegistry, operator }, named: string) => {
      const ended = await operatorRegistry.endSessions(named, operator);
      return operatorActResult(ended, `${ended.name} is signed out everywhere. Open one-time links ended too.`);
    });
  group
    .leaf('delete <operator>', 'Delete an operator, with passkeys, sessions and keys.', [
      'operator delete "Ada Lovelace" --yes',
    ])
    .acts(run, async ({ operatorRegistry, operator }, named: string) => {
      const { id, name } = await operatorRegistry.find(named);
      await confirm(run, 'operator delete', name);
      const deleted = await operatorRegistry.delete(id, operator);
      const said = { json: { ...operatorJson(deleted), status: 'deleted' }, text: [`${name} is deleted.`] };
      return warned(operatorRegistry, deleted, said, 'To add one: "valetkey operator add NAME --role admin".');
    });
}

/** Returns what was done to an operator, with a warning and the way back if it was an admin and no active one has a passkey now. */
async function warned(
  registry: OperatorRegistry,
  { role }: Operator,
  said: CommandResult,
  wayBack: string,
): Promise<CommandResult> {
  if (role !== 'admin' || (await registry.hasAdminOnPages())) return said;
  return { ...said, note: `No active admin has a passkey: nobody can change operators on the pages. ${wayBack}` };
}

function addAddresses(group: CliCommand, run: CommandRun): void {
  group
    .leaf('reset <operator>', 'End all passkeys and sessions of an operator, and print a one-time link to enroll at.', [
      'operator reset "Ada Lovelace"',
    ])
    .acts(run, async ({ operatorRegistry, operator }, named: string) => {
      const { operator: found, passkeys, keys } = await operatorRegistry.show(named);
      await confirm(run, 'operator reset', found.name, String(passkeys.length));
      const made = await operatorRegistry.reset(found.id, operator);
      const shown = oneTimeLinkResult(made, `${found.name} is reset. Within 24 hours, enroll a passkey at:`);
      const note = `Keys stay: ${keys.length}. To end them: "valetkey operator key list ${found.id}", then "operator key end".`;
      return keys.length === 0 ? shown : { ...shown, note };
    });
  group
    .leaf('sign-in <operator>', 'Print a one-time link that signs an operator in for an hour, without a passkey.', [
      'operator sign-in "Ada Lovelace"',
    ])
    .acts(run, async ({ operatorRegistry, operator }, named: string) => {
      const made = await operatorRegistry.signInAddress(named, operator);
      return oneTimeLinkResult(made, `Within 5 minutes, ${made.operator.name} signs in at:`);
    });
}

function addKeys(group: CliCommand, run: CommandRun): void {
  const keys = group.group('key', 'Keys: programs call the API with them.');
  keys
    .leaf('add <operator>', 'Make a key for the API, and print the key once.', [
      'operator key add portal --name "developer portal" --rights clients.read,clients.write,clients.secrets',
      'operator key add portal --name nightly --rights status.read --expires 30d --json',
    ])
    .requiredOption('--name <name>', 'the purpose of the key')
    .requiredOption(
      '--rights <list>',
      `the rights of the key, separated by commas: ${RIGHTS.join(', ')}`,
      readKeyRights,
    )
    .option('--expires <time>', 'the lifetime of the key, such as 30d; 90 days if omitted, at most 365d', readLifetime)
    .acts(
      run,
      async (
        { operatorRegistry, operator },
        named: string,
        { name, rights, expires }: { name: string; rights: Right[]; expires?: number },
      ) => {
        const settings = { name, rights, ...(expires === undefined ? {} : { lifetime: expires }) };
        const { key, text } = await operatorRegistry.addKey(named, settings, operator);
        return newKeyResult(key, text);
      },
    );
  keys
    .leaf('list <operator>', 'List the keys of an operator, oldest first, without the keys themselves.', [
      'operator key list portal',
    ])
    .acts(run, async ({ operatorRegistry }, named: string) => {
      const { id } = await operatorRegistry.find(named);
      return shortList(keysOf(id), (await operatorRegistry.listKeys(named)).map(usedKeyJson), run.width);
    });
  keys
    .leaf('end <operator> <key>', 'End a key by its ID: the API refuses the key from now on.', [
      'operator key end portal opk_6qm1v0t4y8d3k2xz',
    ])
    .acts(run, (installation, named: string, keyId: string) => endKey(installation, named, keyId));
}

async function endKey({ operatorRegistry, operator }: Installation, named: string, keyId: string) {
  const key = await operatorRegistry.endKey(named, keyId, operator);
  return { json: { ...keyJson(key), status: 'ended' }, text: [`The key ${key.name} is ended.`] };
}

function readKeyRights(text: string): Right[] {
  const asked = text.split(',');
  const unknown = asked.find((right) => !RIGHTS.includes(right as Right));
  if (unknown !== undefined)
    throw new InvalidArgumentError(`there is no right ${JSON.stringify(unknown)}: give some of ${RIGHTS.join(',')}`);
  return asked as Right[];
}

/** Reads a lifetime, in ms. */
function readLifetime(text: string): number {
  const seconds = readDuration(text);
  if (seconds === null) throw new InvalidArgumentError('give a time such as 12h or 30d');
  return seconds * 1000;
}
