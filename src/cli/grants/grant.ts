/** `grant`: lists what users allowed, and revokes it. */
import type { CliCommand } from '../command/command.ts';
import type { CommandRun } from '../command/command-run.ts';
import type { Installation } from '../command/context.ts';
import { confirm } from '../input/confirm.ts';
import { DEFAULT_LIMIT, readLimit, whereItEnds } from '../input/shared-options.ts';
import { countedGrants } from './count-ended-grants.ts';
import { listedGrants, liveGrant, shownGrant } from './grant-view.ts';

type ListOptions = { client?: string; user?: string; limit: number };

/** Adds the commands about grants. */
export function addGrantCommands(program: CliCommand, run: CommandRun): void {
  const grant = program.group('grant', 'Grants: list and end what users allowed.');
  grant
    .leaf('list', 'List grants, newest first. The last use may have been up to ten minutes later than shown.', [
      'grant list',
      'grant list --client app_6qm1v0t4y8d3k2xz --user ada@example.com',
    ])
    .option('--client <app>', 'only grants for this app, named by its id or its name')
    .option('--user <user>', 'only grants of this user, named as in "user show"')
    .option('--limit <number>', 'the maximum number of grants', readLimit, DEFAULT_LIMIT)
    .acts(run, (installation, options: ListOptions) => list(installation, options, run));
  grant
    .leaf('show <id>', 'Show the history of one grant: who allowed it, its last use, and how it ended.', [
      'grant show 019aa3c5-7d02-7c11-9d5e-2f6b7c80a1e4',
    ])
    .acts(run, async ({ grants }, id: string) => shownGrant(await grants.show(id), run.context.now(), run.width));
  grant
    .leaf('revoke [id]', 'End one grant, or all: every token issued from it is refused from now on.', [
      'grant revoke 019aa3c5-7d02-7c11-9d5e-2f6b7c80a1e4',
      'grant revoke --all',
    ])
    .option('--all', 'end every grant of every user for every app')
    .action((id: string | undefined, { all = false }: { all?: boolean }, command: CliCommand) => {
      if (all === (id !== undefined)) command.error('name one grant by its id, or give --all');
      return run.withInstallation((installation) =>
        id === undefined ? revokeAll(installation, run) : revoke(installation, run, id),
      );
    });
}

async function list(installation: Installation, { client, user, limit }: ListOptions, run: CommandRun) {
  const { clients, accounts, grants } = installation;
  const listed = await grants.list({
    limit,
    ...(client === undefined ? {} : { clientId: (await clients.show(client)).id }),
    ...(user === undefined ? {} : { resourceOwnerId: (await accounts.show(user)).id }),
  });
  return { ...listedGrants(listed, run.context.now(), run.width), ...whereItEnds(listed, limit) };
}

async function revoke({ grants, operator }: Installation, run: CommandRun, id: string) {
  const which = liveGrant(await grants.show(id), run.context.now());
  if (which !== null) await confirm(run, 'grant revoke', which);
  await grants.revoke(id, operator);
  return {
    json: { id: id.toLowerCase(), status: 'revoked' },
    text: [`Grant ${id.toLowerCase()} is revoked: every token issued from it is refused from now on.`],
  };
}

async function revokeAll({ grants, operator }: Installation, run: CommandRun) {
  await confirm(run, 'grant revoke', async () => `every grant (${await countedGrants(grants, {})})`);
  await grants.revokeAll(operator);
  return {
    json: { all: true, status: 'revoked' },
    text: ['Every grant is revoked: every app must ask its users again.'],
  };
}
