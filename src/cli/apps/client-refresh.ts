/** `client refresh`: applies the current metadata document of an app, or only compares it. */
import type { Client } from '../../oauth/clients/client.ts';
import { OperatorError } from '../../oauth/error.ts';
import type { ClientDocuments, ComparedDocument } from '../../operator/apps/client-documents.ts';
import type { CliCommand } from '../command/command.ts';
import type { CommandResult, CommandRun } from '../command/command-run.ts';
import { confirm } from '../input/confirm.ts';
import { escapeForTerminal } from '../output/escape-for-terminal.ts';
import { numberWithUnit } from '../output/number-with-unit.ts';
import { card } from '../output/table.ts';
import { shownClient } from './client-view.ts';

type RefreshOptions = { all?: boolean; check?: boolean };

/** Adds the command. */
export function addRefresh(client: CliCommand, run: CommandRun): void {
  client
    .leaf('refresh [app]', 'Fetch the metadata document of an app again, show the changes, and apply them.', [
      'client refresh https://agent.example/client.json',
      'client refresh https://agent.example/client.json --check',
      'client refresh --all --check',
    ])
    .option('--all', 'every app that has a document; only with --check')
    .option('--check', 'change nothing, and exit 1 if a document differs, for a timer')
    .action((app: string | undefined, options: RefreshOptions, command: CliCommand) => {
      const { all = false, check = false } = options;
      if ((app !== undefined) === all) command.error('name one app, or give --all');
      if (all && !check) command.error('--all needs --check: refresh apps one by one, so that you see each change');
      return check ? checkDocuments(run, app) : refresh(run, app as string);
    });
}

/** Shows what a document changes, asks, and takes it over. */
function refresh(run: CommandRun, app: string): Promise<void> {
  return run.withInstallation(async ({ clients, clientDocuments, secretUses, operator }) => {
    const compared = await clientDocuments.compare(await clients.show(app));
    const { client, differs, omittedKeys } = compared;
    const more = { json: { omitted_keys: omittedKeys }, fields: [] };
    if (!differs)
      return { ...(await shownClient(client, secretUses, more)), note: `The document of ${client.name} is unchanged.` };
    for (const line of changeLines(compared)) run.context.stderr.write(`${escapeForTerminal(line)}\n`);
    await confirm(run, 'client refresh', client.name);
    const refreshed = await clientDocuments.refresh(compared, operator);
    const known = await clients.warnings(client);
    const warnings = (await clients.warnings(refreshed)).filter((warning) => !known.includes(warning));
    return { ...(await shownClient(refreshed, secretUses, more)), note: [`${client.name} is refreshed.`, ...warnings] };
  });
}

function changeLines({ client, refreshed, changes, notes, asksAgain }: ComparedDocument): string[] {
  const nothing = ['nothing that Valetkey uses'];
  return [
    ...card([
      ['Document', client.id],
      ['SHA-256', `${refreshed.sha256}, previously ${client.documentSha256}`],
      ['Changes', changes.length === 0 ? nothing : changes],
    ]),
    ...(asksAgain ? ['Remembered consent ends: users are asked again.'] : []),
    ...notes,
  ];
}

/** One checked document: its differences, or the reason why they are unknown. */
type Looked = { readonly client: Client; readonly compared: ComparedDocument | null; readonly problem: string | null };

/** Compares the document of one app, or of all; a failed fetch does not stop the others. */
function checkDocuments(run: CommandRun, app: string | undefined): Promise<void> {
  return run.withInstallation(async ({ clients, clientDocuments }) => {
    if (app !== undefined) return checked([await look(clientDocuments, await clients.show(app))]);
    const looked: Looked[] = [];
    for await (const client of clientDocuments.all()) looked.push(await look(clientDocuments, client));
    return checked(looked);
  });
}

async function look(documents: ClientDocuments, client: Client): Promise<Looked> {
  try {
    return { client, compared: await documents.compare(client), problem: null };
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    return { client, compared: null, problem: error.atCommandLine };
  }
}

function checked(looked: readonly Looked[]): CommandResult {
  const wrong = looked.filter(({ compared }) => compared?.differs !== false);
  return {
    json: looked.map(({ client, compared, problem }) => ({
      client_id: client.id,
      name: client.name,
      differs: compared?.differs ?? null,
      changes: compared?.changes ?? [],
      problem,
    })),
    text: [
      ...wrong.map(
        ({ client, compared, problem }) => `${client.name} (${client.id}): ${problem ?? differenceOf(compared)}`,
      ),
      `${numberWithUnit(looked.length, 'document')} checked: ${wrong.length === 0 ? 'all unchanged' : `${wrong.length} changed or unavailable`}.`,
    ],
    ...(wrong.length === 0
      ? {}
      : { exitCode: 1, note: 'Next: "valetkey client refresh APP" shows the changes of a document, and asks.' }),
  };
}

function differenceOf(compared: ComparedDocument | null): string {
  return compared?.changes.join('; ') || 'changed in nothing that Valetkey uses';
}
