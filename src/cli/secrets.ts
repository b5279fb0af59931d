/** `rotate-secret` and `retire-secret` of apps, resource servers and identity providers. */
import type { StoredSecret } from '../oauth/keys/secret.ts';
import type { HandOverKind } from '../operator/hand-over/hand-over.ts';
import type { SecretUses } from '../operator/last-uses.ts';
import type { WhichSecret } from '../operator/secret-rotation.ts';
import { SHOWN_ONCE } from './client-view.ts';
import type { CliCommand } from './command.ts';
import type { CommandRun } from './command-run.ts';
import type { Installation } from './context.ts';
import { HAND_OVER, type HandOverOption, handedOver } from './hand-over-view.ts';
import { NEWER, type NewerOption } from './option.ts';
import { beforeRetiring } from './secret-view.ts';

type SecretRow = { readonly id: string; readonly name: string; readonly secrets: readonly StoredSecret[] };

/** A kind of registrations with secrets. */
type Secretive<Row extends SecretRow> = {
  readonly group: 'client' | 'resource-server' | 'identity-provider';
  readonly kind: HandOverKind;
  /** Its argument in a usage, an example of it, and what uses the secret. */
  readonly argument: string;
  readonly example: string;
  readonly user: string;
  /** The members with the id and the secret. */
  readonly members: readonly [id: string, secret: string];
  show(installation: Installation, named: string): Promise<Row>;
  rotate(installation: Installation, id: string): Promise<{ readonly row: Row; readonly secret: string }>;
  retire(installation: Installation, id: string, which: WhichSecret): Promise<Row>;
  json(row: Row, uses: SecretUses): Promise<object>;
};

/** Adds the commands about secrets of a kind of registrations. */
export function addSecretCommands<Row extends SecretRow>(
  group: CliCommand,
  run: CommandRun,
  its: Secretive<Row>,
): void {
  const { argument, example, members } = its;
  const named = (id: string, secret: string | null) => ({ [members[0]]: id, [members[1]]: secret });
  const next = (id: string) =>
    `Next: once the ${its.user} uses it, retire the old secret: "valetkey ${its.group} retire-secret ${id}".`;
  group
    .leaf(`rotate-secret ${argument}`, 'Make a new secret. The previous one works until you retire it.', [
      `${its.group} rotate-secret ${example}`,
      `${its.group} rotate-secret ${example} --hand-over`,
    ])
    .option(...HAND_OVER)
    .action((which: string, { handOver }: HandOverOption) =>
      run.withInstallation(async (installation) => {
        const { id, name, secrets } = await its.show(installation, which);
        const note = secrets.length > 0 ? [next(id)] : [];
        if (handOver) {
          const made = await installation.handOvers.make({ kind: its.kind, id }, installation.operator);
          return handedOver(made, named(id, null), `Send the developer of ${name} this address:`, note);
        }
        const { row, secret } = await its.rotate(installation, id);
        return {
          ...{ json: named(id, secret), note },
          text: [`The new secret of ${row.name}:`, '', `  ${secret}`, '', SHOWN_ONCE],
        };
      }),
    );
  group
    .leaf(`retire-secret ${argument}`, 'End the older of two secrets.', [`${its.group} retire-secret ${example}`])
    .option(...NEWER)
    .action((named: string, { newer = false }: NewerOption) =>
      run.withInstallation(async (installation) => {
        const which = newer ? 'newer' : 'older';
        const shown = await its.show(installation, named);
        const said = await beforeRetiring(run, its.group, shown, which, installation.secretUses);
        const row = await its.retire(installation, shown.id, which);
        return { json: await its.json(row, installation.secretUses), text: [said] };
      }),
    );
}
