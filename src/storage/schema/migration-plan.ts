/** The description of a database upgrade, for the log of the start that runs it. */
import { pendingMigrations } from './migrate.ts';
import type { AppliedMigration, Migration } from './migrations.ts';
import type { PlainDatabase } from './plain-database.ts';

/** An upgrade: the last applied migration, the pending ones, and the row counts of the large tables. */
export type MigrationPlan = {
  readonly from: AppliedMigration;
  readonly steps: readonly Migration[];
  readonly rows: readonly (readonly [what: string, count: number])[];
};

/** Tables that determine the duration of an upgrade; all exist since the first migration. */
const COUNTED = { account: 'accounts', client: 'apps', oauth_grant: 'grants', audit_event: 'audit events' };

/** Returns the upgrade to run, or null if nothing is pending or the database is new. Read-only. */
export async function migrationPlan(database: PlainDatabase): Promise<MigrationPlan | null> {
  const from = (await database.applied()).at(-1);
  const steps = from ? await pendingMigrations(database) : [];
  if (!from || steps.length === 0) return null;
  const rows: [string, number][] = [];
  for (const [table, what] of Object.entries(COUNTED)) {
    const [row] = await database.tuples(`SELECT count(*) FROM ${table}`);
    rows.push([what, Number(row?.[0])]);
  }
  return { from, steps, rows };
}

/** Returns the plan as a sentence, with the way back. */
export function planSentence({ from, steps, rows }: MigrationPlan): string {
  const to = steps.at(-1)?.number;
  const does = steps.map(({ number, name, sql }) => `${number} (${name}): ${purposeOf(sql)}`).join(' ');
  const has = rows.map(([what, count]) => `${count} ${what}`).join(', ');
  const isExpansion = steps.every(({ name }) => name.startsWith('expand-'));
  const back = isExpansion
    ? 'the version before can still start on it afterwards'
    : 'the version before does not start on it afterwards, and the way back is the backup from before';
  return `the database is brought from migration ${from.number} (${from.name}) to ${to}. ${does} It has ${has}. Each migration is done whole or not at all, also if this start is killed; ${back}`;
}

/** Returns the first sentence of a migration's leading comment. */
function purposeOf(sql: string): string {
  const [head = ''] = /^(--.*\n?)+/.exec(sql) ?? [];
  const text = head.replaceAll(/^-- ?/gm, '').replaceAll(/\s+/g, ' ');
  return /^.*?[.:](?= |$)/.exec(text)?.[0] ?? '';
}
