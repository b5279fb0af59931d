/** `keys`: the root keys from which every credential is derived. */
import { OperatorError } from '../../oauth/error.ts';
import { readRootKeyName, rootKeyName } from '../../oauth/keys/root-key.ts';
import { type RootKeyJson, rootKeyJson } from '../../operator/json/root-key.ts';
import type { KeyStatus, ListedKey } from '../../operator/root-keys/key-registry.ts';
import type { CliCommand } from '../command/command.ts';
import type { CommandResult, CommandRun } from '../command/command-run.ts';
import { confirm } from '../input/confirm.ts';
import { type Column, table } from '../output/table.ts';
import { readableTime } from '../output/time.ts';
import { addIdTokenKeysCommands } from './id-token-keys.ts';

const APART = 'Keep it apart from the database and its backups: anybody with both can act for every user.';

/** Adds the commands about root keys. */
export function addKeysCommands(program: CliCommand, run: CommandRun): void {
  const keys = program.group('keys', 'Root keys, from which every credential is derived.');
  keys
    .leaf('generate', 'Make a root key: print it, or write it to a new file that only you can read.', [
      'keys generate',
      'keys generate --file data/keys',
    ])
    .option('--file <path>', 'write the key to this file, and do not print it')
    .action(async ({ file }: { file?: string }) => {
      const made = await run.context.keys.generate(file ?? null);
      if (made.file === null) run.print({ json: { key: made.key, file: null }, text: [made.key], note: APART });
      else
        run.print({ json: { key: null, file: made.file }, text: [`A new root key is in ${made.file}.`], note: APART });
    });
  keys
    .leaf(
      'list',
      'List the root keys of the installation, and the number of grants, passwords and keys for ID tokens that depend on each.',
      ['keys list', 'keys list --json'],
    )
    .acts(run, async ({ rootKeys }) => keyListResult(await rootKeys.list(), run.context.now(), run.width));
  keys
    .leaf('rotate', 'Switch to a new root key, once every running instance has read it.', [
      'keys rotate',
      'keys rotate --json',
    ])
    .action(async () => {
      let told = '';
      const rotated = await run.context.keys.rotate((names) => {
        const line = `Waiting for ${names.join(', ')} to read the new root key.`;
        if (line !== told) run.context.stderr.write(`${line}\n`);
        told = line;
      });
      const id = rootKeyName(rotated.keyId);
      const before = rootKeyName(rotated.before);
      run.print({
        json: { key_id: id, earlier_key_id: before, file: rotated.file },
        text: [`Root key ${id} is current${rotated.file === null ? '' : `, and in ${rotated.file}`}.`],
        note: `Credentials of ${before} stay valid. Once nothing depends on it, retire it: "valetkey keys retire ${before}". Back the keys up again, apart from the database.`,
      });
    });
  keys
    .leaf('retire <id>', 'Retire an earlier root key on which nothing depends.', [
      'keys retire 1f0c27a9',
      'keys retire 1f0c27a9 --end-grants',
    ])
    .option('--end-grants', 'end the grants that depend on it')
    .option('--accept-trail', 'retire it even if the verification of the audit trail fails')
    .action(async (id: string, { endGrants = false, acceptTrail = false }: RetireOptions) => {
      const keyId = readRootKeyName(id);
      if (keyId === null)
        throw new OperatorError(`${JSON.stringify(id)} is not the ID of a root key: "keys list" shows them`);
      const ends = endGrants ? ' Grants that depend on it end.' : '';
      const { ended, isRemoved } = await run.context.keys.retire(keyId, { endGrants, acceptTrail }, () =>
        confirm(run, 'keys retire', rootKeyName(keyId), ends),
      );
      const removed = 'It is removed from the keys file. Remove it from the files of other machines too.';
      run.print({
        json: { key_id: rootKeyName(keyId), status: 'retired', ended_grants: ended },
        text: [`Root key ${rootKeyName(keyId)} is retired.`, ...(endGrants ? [`${ended} grants ended.`] : [])],
        note: [
          isRemoved ? removed : 'Remove it from the keys file, or from VALETKEY_KEYS, on every machine.',
          'Earlier backups of the database need it: keep it in the backup of the keys as long as you keep them.',
        ],
      });
    });
  addIdTokenKeysCommands(keys, run);
}

type RetireOptions = { endGrants?: boolean; acceptTrail?: boolean };

const DAY_MS = 24 * 3600 * 1000;
const STATUS: Readonly<Record<KeyStatus, string>> = {
  current: 'current',
  announced: 'announced, not in use',
  earlier: 'earlier',
  retired: 'retired',
};

function keyListResult(keys: readonly ListedKey[], now: number, width: number): CommandResult {
  const rows = keys.map(rootKeyJson);
  return { json: rows, text: table(columnsAt(now), rows, width) };
}

function columnsAt(now: number): readonly Column<RootKeyJson>[] {
  const days = (key: RootKeyJson) => Math.floor((now - Date.parse(key.created_at)) / DAY_MS);
  return [
    { heading: 'Key', value: (key) => key.key_id },
    {
      heading: 'Status',
      value: (key) => STATUS[key.status] + (key.is_here || key.status === 'retired' ? '' : ', not here'),
    },
    { heading: 'Since', value: (key) => `${readableTime(key.created_at)} (${days(key)} days)` },
    { heading: 'Live grants', value: (key) => String(key.live_grants) },
    { heading: 'Passwords', value: (key) => String(key.passwords) },
    { heading: 'ID token keys', value: (key) => String(key.signing_keys) },
  ];
}
