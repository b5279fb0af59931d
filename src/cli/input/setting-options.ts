/** The options of commands for settings, made from their descriptions, and the settings that such options give. */
import { InvalidArgumentError, Option } from 'commander';
import {
  type Described,
  described,
  hasDefault,
  type SettingRow,
  type Settings,
} from '../../operator/fields/setting.ts';
import { readDuration } from '../../settings/duration.ts';
import type { CliCommand } from '../command/command.ts';
import type { Field } from '../output/table.ts';
import { readJwksFile } from './jwks-file.ts';

/** The command that has the options: it makes something new, or changes it. */
type Use = 'register' | 'update';

/** Options in place of that of a setting, by its name. */
type OwnOptions<Values> = { readonly [Name in keyof Values]?: (command: CliCommand) => CliCommand };

/** Adds the options of a noun's settings to a command. */
export function addSettings<Values>(
  command: CliCommand,
  settings: Settings<Values>,
  use: Use,
  own: OwnOptions<Values> = {},
): CliCommand {
  for (const setting of described(settings)) {
    const { name, option } = setting;
    if (own[name] !== undefined) own[name](command);
    else if (option !== undefined) addOption(command, setting, option, use);
  }
  return command;
}

function addOption(
  command: CliCommand,
  setting: Described,
  { flag, no }: Required<Described>['option'],
  use: Use,
): void {
  const option = new Option(flag, helpOf(setting, use));
  const read = readerOf(setting);
  if (read) option.argParser(read);
  if (use === 'register') option.makeOptionMandatory(!hasDefault(setting));
  command.addOption(option);
  if (use === 'update' && no !== undefined) command.option(`--no-${option.name()}`, no);
}

/** Returns the settings that options give; false stands for an option that removes. Reads files of keys. Throws `OperatorError`. */
export async function settingsIn<Values>(settings: Settings<Values>, options: object): Promise<Partial<Values>> {
  const given: Record<string, unknown> = {};
  for (const { name, option, field, initial } of described(settings)) {
    const value = option && (options as Record<string, unknown>)[new Option(option.flag).attributeName()];
    if (value === undefined) continue;
    if (value === DEFAULT || (value === false && field.kind !== 'flag')) given[name] = initial;
    else given[name] = field.kind === 'keys' ? await readJwksFile(value as string) : value;
  }
  return given as Partial<Values>;
}

/** Refuses a command that changes something without a change. */
export function requireChange(command: CliCommand, options: object): void {
  if (Object.keys(options).every((name) => name === 'json')) command.error('give at least one change');
}

/** Returns the lines of a card for settings; `own` has other lines of some, by their names in JSON. */
export function settingFields(
  rows: readonly SettingRow[],
  own: Readonly<Record<string, readonly string[]>> = {},
): Field[] {
  return rows.map(({ name, label, lines }) => [label, own[name]?.length ? own[name] : lines]);
}

function helpOf({ help, field, words = {}, initial, none, option }: Described, use: Use): string {
  const said = option?.[use];
  if (said !== undefined) return said;
  const text = asPhrase(help);
  const choices = field.words ?? [];
  if (field.kind === 'some') {
    const usual = (initial as string[]).length === choices.length ? 'all' : initial;
    return `${text}: some of ${choices.join(',')} (default: ${usual})${none === undefined ? '' : ', or none'}`;
  }
  if (field.kind !== 'one') return text;
  const meaning = (word: string) => {
    const [text = word, hint] = words[word] ?? [];
    return [asPhrase(text), hint && asPhrase(hint), word === initial && 'the default'].filter(Boolean).join('; ');
  };
  return `${text}: ${alternatives(choices.map((word) => `"${word}" (${meaning(word)})`))}`;
}

/** Returns a sentence as a part of another. */
function asPhrase(sentence: string): string {
  return (sentence.charAt(0).toLowerCase() + sentence.slice(1)).replace(/\.$/, '').replaceAll('’', "'");
}

/** Returns the reader of an option's text; undefined where the text is the value. */
function readerOf({ field: { kind, words = [] }, none }: Described): ((text: string) => unknown) | undefined {
  if (kind === 'seconds') return readSeconds;
  if (kind === 'one') return (text) => readOne(words, text);
  return kind === 'some' ? (text) => readSome(words, text, none !== undefined) : undefined;
}

/** The word for the installation's own duration. */
const DEFAULT = 'default';

/** Reads a length of time, or the word `default`. */
function readSeconds(text: string): number | typeof DEFAULT {
  const seconds = text === DEFAULT ? text : readDuration(text);
  if (seconds === null) throw new InvalidArgumentError('give seconds, a time such as 90s, 30m or 12h, or "default"');
  return seconds;
}

/** Reads one of some words. */
export function readOne(words: readonly string[], text: string): string {
  if (!words.includes(text)) throw new InvalidArgumentError(`give ${alternatives(words)}`);
  return text;
}

function readSome(words: readonly string[], text: string, mayBeNone: boolean): string[] {
  const given = mayBeNone && text === 'none' ? [] : text.split(',');
  const known = words.filter((word) => given.includes(word));
  if (known.length < given.length)
    throw new InvalidArgumentError(`give some of ${words.join(',')}, without spaces${mayBeNone ? ', or none' : ''}`);
  return known;
}

function alternatives(words: readonly string[]): string {
  return `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}
