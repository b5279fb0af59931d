/** `scope`: defines what scopes mean in words, for the whole installation and in each language. */
import type { ScopeDefinition, ScopeEffect } from '../../oauth/grants/scope.ts';
import { type ScopeJson, scopeJson } from '../../operator/json/scope.ts';
import type { CliCommand } from '../command/command.ts';
import type { CommandResult, CommandRun } from '../command/command-run.ts';
import { confirm } from '../input/confirm.ts';
import { readEffect, readSentence, type Sentences } from '../input/shared-options.ts';
import { card, type ShortList, shortList } from '../output/table.ts';
import { readableTime } from '../output/time.ts';

type DefineOptions = { sentence?: Sentences; effect?: ScopeEffect | 'none' };

/** Adds the commands about scopes. */
export function addScopeCommands(program: CliCommand, run: CommandRun): void {
  const scope = program.group('scope', 'Scopes: the sentences that explain them on the consent page, for all apps.');
  scope
    .leaf('define <name>', 'Set the sentences that explain a scope to users, by language.', [
      'scope define mail.read --sentence "Read your mail" --sentence "ar=قراءة بريدك"',
      'scope define mail.read --sentence "ar="',
      'scope define mail.delete --sentence "Delete your mail" --effect sensitive',
    ])
    .option(
      '--sentence <text>',
      '"LANGUAGE=Sentence for the consent page", or an English sentence alone; repeatable; "LANGUAGE=" removes one',
      readSentence,
    )
    .option(
      '--effect <what>',
      'the effect of the scope: "reads", "changes", "sensitive" (can do harm), or "none"',
      readEffect,
    )
    .action((name: string, { sentence, effect }: DefineOptions, command: CliCommand) => {
      if (sentence === undefined && effect === undefined) command.error('give --sentence or --effect');
      return run.withInstallation(async ({ scopes, operator }) => {
        const defined = await scopes.define(name, sentence ?? {}, operator, effect === 'none' ? null : effect);
        return { ...scopeResult(defined), note: `${name} is defined. An app's own English sentence takes precedence.` };
      });
    });
  scope
    .leaf('list', 'List all defined scopes, by name.', ['scope list', 'scope list --json'])
    .acts(run, async ({ scopes }) => shortList(SCOPES, (await scopes.list()).map(scopeJson), run.width));
  scope
    .leaf('show <name>', 'Show the sentences and the effect of one scope.', ['scope show mail.read'])
    .acts(run, async ({ scopes }, name: string) => scopeResult(await scopes.show(name)));
  scope
    .leaf(
      'delete <name>',
      'Delete the definition of a scope. Apps and grants keep the scope, without these sentences.',
      ['scope delete mail.read --yes'],
    )
    .acts(run, async ({ scopes, operator }, name: string) => {
      await scopes.show(name);
      await confirm(run, 'scope delete', name);
      const deleted = await scopes.delete(name, operator);
      return { json: { ...scopeJson(deleted), status: 'deleted' }, text: [`${name} is deleted.`] };
    });
}

function scopeResult(definition: ScopeDefinition): CommandResult {
  const scope = scopeJson(definition);
  const sentences = Object.entries(scope.sentences).map(([language, sentence]) => `${language}: ${sentence}`);
  return {
    json: scope,
    text: card([
      ['Name', scope.name],
      ['Sentences', sentences],
      ['Effect', scope.effect ?? ''],
      ['Defined', readableTime(scope.created_at)],
    ]),
  };
}

const SCOPES: ShortList<ScopeJson> = {
  none: 'No scopes are defined yet. Define one: valetkey scope define NAME --sentence "What it allows"',
  columns: [
    { heading: 'Name', value: (scope) => scope.name },
    { heading: 'In English', value: (scope) => scope.sentences['en'] ?? '' },
    { heading: 'Languages', value: (scope) => Object.keys(scope.sentences).join(' ') },
    { heading: 'Defined', value: (scope) => readableTime(scope.created_at) },
  ],
};
