/** `keys id-tokens`: the keys that sign ID tokens. */
import type { ListedSigningKey } from '../../oauth/openid/signing-keys.ts';
import { type SigningKeyJson, signingKeyJson } from '../../operator/json/signing-key.ts';
import type { CliCommand } from '../command/command.ts';
import type { CommandResult, CommandRun } from '../command/command-run.ts';
import { type Column, table } from '../output/table.ts';
import { readableTime } from '../output/time.ts';

/** Adds the commands about keys for ID tokens to the group `keys`. */
export function addIdTokenKeysCommands(keys: CliCommand, run: CommandRun): void {
  const idTokens = keys.group('id-tokens', 'Keys that sign ID tokens.');
  idTokens
    .leaf('list', 'List the keys that sign ID tokens.', ['keys id-tokens list', 'keys id-tokens list --json'], {
      isDefault: true,
    })
    .acts(run, async ({ signingKeys }) => listed(await signingKeys.list(), run.width));
  idTokens
    .leaf('replace', 'Drop all keys that sign ID tokens, and make new ones: after a leak.', [
      'keys id-tokens replace --now',
    ])
    .requiredOption('--now', 'drop them at once, so that each app fetches the new ones')
    .acts(run, async ({ signingKeys, operator }) => ({
      ...listed(await signingKeys.replace(operator), run.width),
      note: 'Every app fetches the new keys when it meets them. An app that keeps a key set still accepts the old ones until then.',
    }));
}

const STATUS: Readonly<Record<SigningKeyJson['status'], string>> = {
  signing: 'signs',
  next: 'signs next',
  former: 'signed before',
};

function listed(keys: readonly ListedSigningKey[], width: number): CommandResult {
  const rows = keys.map(signingKeyJson);
  return { json: rows, text: table(COLUMNS, rows, width) };
}

const COLUMNS: readonly Column<SigningKeyJson>[] = [
  { heading: 'Key', value: ({ kid }) => kid },
  { heading: 'Status', value: ({ status, opens }) => STATUS[status] + (opens ? '' : ', cannot be opened') },
  { heading: 'Made', value: ({ created_at }) => readableTime(created_at) },
  { heading: 'Signs since', value: ({ signs_since }) => (signs_since === null ? '' : readableTime(signs_since)) },
  { heading: 'Root key', value: ({ root_key }) => root_key ?? '' },
];
