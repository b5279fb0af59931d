/** `user link`: links accounts to identities at a provider, one by one or from a file. */

import type { Link, Linked, LinkReport } from '../../accounts/import/user-links.ts';
import { accountLabel } from '../../accounts/people/account.ts';
import type { CliCommand } from '../command/command.ts';
import type { CommandResult, CommandRun } from '../command/command-run.ts';
import { piecesOf } from '../input/file-pieces.ts';
import { type Column, card, table } from '../output/table.ts';

type LinkOptions = { provider?: string; subject?: string; file?: string };

/** Adds the command to those about users. */
export function addLinkCommand(user: CliCommand, run: CommandRun): void {
  user
    .leaf(
      'link [user]',
      'Link one user, or the users in a file, to their identities at an identity provider. They then sign in there and keep their grants. Exits 1 if a line was refused.',
      ['user link ada@example.com --provider product --subject 4711', 'user link --file links.jsonl'],
    )
    .option('--provider <id>', 'the identity provider')
    .option('--subject <subject>', "the provider's own ID of the user, which never changes")
    .option(
      '--file <file>',
      'instead of one user: a file of JSON lines with account (named as in "user show"), provider and subject',
    )
    .action(async (account: string | undefined, { provider, subject, file }: LinkOptions, command: CliCommand) => {
      const one = { account, provider, subject };
      const said = Object.values(one).filter((text) => text !== undefined).length;
      if (said !== (file === undefined ? 3 : 0))
        command.error('name a user with --provider and --subject, or give --file alone');
      await run.withInstallation(async ({ links, operator }) => {
        if (file === undefined) return linked(await links.link(one as Link, operator), one as Link);
        return reported(await links.run(piecesOf(file, 'linking', 'JSON lines', run), operator), run.width);
      });
    });
}

function linked({ account, outcome }: Linked, { provider, subject }: Link): CommandResult {
  const sentence = outcome === 'linked' ? 'is linked' : 'was already linked';
  return {
    json: { id: account.id, provider, subject, outcome },
    text: [`${accountLabel(account)} ${sentence} to ${subject} at ${provider}, and signs in there.`],
  };
}

function reported({ linked, already, refused }: LinkReport, width: number): CommandResult {
  return {
    json: { linked, already, refused: refused.length, lines: refused },
    text: [
      ...(refused.length === 0 ? [] : [...table(COLUMNS, refused, width), '']),
      ...card([
        ['Linked', String(linked)],
        ['Already linked', already === 0 ? '' : String(already)],
        ['Refused', refused.length === 0 ? '' : String(refused.length)],
      ]),
    ],
    exitCode: refused.length === 0 ? 0 : 1,
  };
}

const COLUMNS: readonly Column<LinkReport['refused'][number]>[] = [
  { heading: 'Line', value: ({ line }) => String(line) },
  { heading: 'Reason', value: ({ reason }) => reason },
];
