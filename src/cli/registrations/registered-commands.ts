/** The commands that are alike for apps, APIs and products: looking at them, pausing and deleting one. */
import { type HandOverKind, REGISTERED } from '../../operator/hand-over/hand-over.ts';
import { findHandOverJson } from '../../operator/json/hand-over.ts';
import type { PausingRegistry, RegisteredRow, Registry } from '../../operator/registration/registry.ts';
import type { SecretUses } from '../../operator/secrets/secret-last-uses.ts';
import type { CliCommand } from '../command/command.ts';
import type { CommandResult, CommandRun } from '../command/command-run.ts';
import type { Installation } from '../command/context.ts';
import { type ShortList, shortList } from '../output/table.ts';
import { withHandOver } from './hand-over-view.ts';

/** The acts of a registry that all kinds have. */
type Acts<Row extends RegisteredRow> = Pick<
  Registry<HandOverKind, Row, object>,
  'show' | 'rotateSecret' | 'retireSecret' | 'delete'
>;

/** A kind of registrations. `argument` names one in a usage, such as `example`; `user` is what uses the secret. */
export type Noun<Row extends RegisteredRow, Its = Acts<Row>, Json extends object = object> = {
  readonly kind: HandOverKind;
  readonly argument: string;
  readonly example: string;
  readonly user: string;
  /** The members with the id and the secret. */
  readonly members: readonly [id: string, secret: string];
  registry(installation: Installation): Its;
  readonly json: (row: Row, uses: SecretUses) => Promise<Json>;
};

/** A kind that can be paused. */
type PausingNoun<Row extends RegisteredRow & { readonly status: 'active' | 'paused' }> = Noun<
  Row,
  Acts<Row> & Pick<PausingRegistry<'client' | 'identity_provider', Row, object>, 'pause' | 'resume'>
>;

/** Adds `list` and `show` of a kind of which an installation has few. */
export function addLooking<Row extends RegisteredRow, Json extends object>(
  group: CliCommand,
  run: CommandRun,
  its: Noun<Row, Acts<Row> & { list(): Promise<Row[]> }, Json>,
  { sentences: [list, show], examples, listing, shown }: Looking<Row, Json>,
): void {
  const { kind, argument, example, registry, json } = its;
  group.leaf('list', list, examples).acts(run, async (installation) => {
    const rows = await registry(installation).list();
    return shortList(listing, await Promise.all(rows.map((row) => json(row, installation.secretUses))), run.width);
  });
  group
    .leaf(`show ${argument}`, show, [`${REGISTERED[kind].command} show ${example}`])
    .acts(run, async (installation, id: string) => {
      const last = await findHandOverJson({ kind, id }, installation.handOvers);
      const row = await registry(installation).show(id);
      return withHandOver(await shown(row, installation.secretUses), last, run.context.now());
    });
}

/** The words and views of these two commands. */
type Looking<Row, Json> = {
  readonly sentences: readonly [list: string, show: string];
  readonly examples: readonly string[];
  readonly listing: ShortList<Json>;
  readonly shown: (row: Row, uses: SecretUses) => Promise<CommandResult>;
};

/** Adds `pause` or `resume`; `done` follows the name. */
export function addPausing<Row extends RegisteredRow & { readonly status: 'active' | 'paused' }>(
  group: CliCommand,
  run: CommandRun,
  { kind, argument, example, registry, json }: PausingNoun<Row>,
  act: 'pause' | 'resume',
  sentence: string,
  done: string,
): void {
  group
    .leaf(`${act} ${argument}`, sentence, [`${REGISTERED[kind].command} ${act} ${example}`])
    .acts(run, async (installation, named: string) => {
      const its = registry(installation);
      const row = await its[act]((await its.show(named)).id, installation.operator);
      return { json: await json(row, installation.secretUses), text: [`${row.name} ${done}`] };
    });
}

/** Adds `delete`, which asks first; `notes` are those after it. */
export function addDelete<Row extends RegisteredRow>(
  group: CliCommand,
  run: CommandRun,
  { kind, argument, example, registry, json }: Noun<Row>,
  sentence: string,
  ask: (row: Row, installation: Installation) => Promise<void>,
  notes: (installation: Installation) => Promise<readonly string[]> = async () => [],
): void {
  group
    .leaf(`delete ${argument}`, sentence, [`${REGISTERED[kind].command} delete ${example} --yes`])
    .acts(run, async (installation, named: string) => {
      const shown = await registry(installation).show(named);
      await ask(shown, installation);
      const row = await registry(installation).delete(shown.id, installation.operator);
      return {
        json: { ...(await json(row, installation.secretUses)), status: 'deleted' },
        text: [`${row.name} is deleted.`],
        note: await notes(installation),
      };
    });
}
