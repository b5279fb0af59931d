/** `rotate-secret` and `retire-secret` of apps, resource servers and identity providers. */
import { REGISTERED } from '../../operator/hand-over/hand-over.ts';
import type { RegisteredRow } from '../../operator/registration/registry.ts';
import type { CliCommand } from '../command/command.ts';
import type { CommandRun } from '../command/command-run.ts';
import { NEWER, type NewerOption } from '../input/shared-options.ts';
import { HAND_OVER, type HandOverOption, handedOver } from './hand-over-view.ts';
import type { Noun } from './registered-commands.ts';
import { beforeRetiring, SHOWN_ONCE } from './secret-view.ts';

/** Adds the commands about secrets of a kind of registrations. */
export function addSecretCommands<Row extends RegisteredRow>(group: CliCommand, run: CommandRun, its: Noun<Row>): void {
  const { kind, argument, example, members, registry } = its;
  const { command } = REGISTERED[kind];
  const named = (id: string, secret: string | null) => ({ [members[0]]: id, [members[1]]: secret });
  const next = (id: string) =>
    `Next: once the ${its.user} uses it, retire the old secret: "valetkey ${command} retire-secret ${id}".`;
  group
    .leaf(`rotate-secret ${argument}`, 'Make a new secret. The previous one works until you retire it.', [
      `${command} rotate-secret ${example}`,
      `${command} rotate-secret ${example} --hand-over`,
    ])
    .option(...HAND_OVER)
    .acts(run, async (installation, which: string, { handOver }: HandOverOption) => {
      const { id, name, secrets } = await registry(installation).show(which);
      const note = secrets.length > 0 ? [next(id)] : [];
      if (handOver) {
        const made = await installation.handOvers.make({ kind, id }, installation.operator);
        return handedOver(made, named(id, null), `Send the developer of ${name} this address:`, note);
      }
      const { row, secret } = await registry(installation).rotateSecret(id, installation.operator);
      return {
        json: named(id, secret),
        note,
        text: [`The new secret of ${row.name}:`, '', `  ${secret}`, '', SHOWN_ONCE],
      };
    });
  group
    .leaf(`retire-secret ${argument}`, 'End the older of two secrets.', [`${command} retire-secret ${example}`])
    .option(...NEWER)
    .acts(run, async (installation, named: string, { newer = false }: NewerOption) => {
      const which = newer ? 'newer' : 'older';
      const shown = await registry(installation).show(named);
      const said = await beforeRetiring(run, command, shown, which, installation.secretUses);
      const row = await registry(installation).retireSecret(shown.id, installation.operator, which);
      return { json: await its.json(row, installation.secretUses), text: [said] };
    });
}
