/**
 * Cost of each process of a run: CPU time with everything that it starts, and wall time. A cgroup for each process counts CPU
 * time where this user may make cgroups; otherwise each process counts itself. No failure here fails a run.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeCgroup } from './cgroup.ts';

/** Module that processes of tests load first (`--import`). */
export const COUNT_COST = new URL('./preload.ts', import.meta.url).href;
/** Folder of the written reports. */
const REPORTS = 'node_modules/.cache/test-costs';
const RUNNER = 'the runner, and the PostgreSQL server that files share';
/** Number of processes that a run prints. */
const PRINTED = 10;

/** Cost of one process in seconds; no wall time if it was killed, or is the runner. */
export type Cost = { readonly name: string; readonly cpu: number; readonly wall?: number };

/** Costs of a run, which are counted until `end`. */
export type Costs = {
  /** Environment of processes that load `COUNT_COST`. */
  readonly variables: Readonly<Record<string, string>>;
  /** Returns the costs so far, the dearest first. `nameOf` gives a process its name by the path of what it runs. */
  each(nameOf: (path: string) => string): Cost[];
  /** Writes the costs so far, and returns lines to print: the total, and the dearest processes. */
  report(title: string, nameOf: (path: string) => string): string[];
  end(): void;
};

/** Starts to count what a run costs. In a new folder below `folder`, processes note what no cgroup counts. */
export function countCosts(folder: string, cgroup = makeCgroup(RUNNER)): Costs {
  const notes = mkdtempSync(join(folder, 'costs-'));
  const each: Costs['each'] = (nameOf) => {
    const counted = cgroup?.seconds() ?? new Map<string, number>();
    const noted = new Map(
      readdirSync(notes).map((name) => [name, JSON.parse(readFileSync(join(notes, name), 'utf8'))]),
    );
    const costs = [...new Set([...counted.keys(), ...noted.keys()])].map((key) => {
      const { uncounted = 0, ...wall } = noted.get(key) ?? {};
      const name = key.replace(/^\S+/, (path) => nameOf(decodeURIComponent(path)));
      return { name, cpu: uncounted + (counted.get(key) ?? 0), ...wall };
    });
    return costs.toSorted((one, other) => other.cpu - one.cpu);
  };
  return {
    variables: { TEST_COST_NOTES: notes, ...(cgroup && { TEST_COST_CGROUP: cgroup.folder }) },
    each,
    report(title, nameOf) {
      const method = cgroup
        ? `counted by cgroup v${cgroup.version}`
        : 'as each process counts itself and the children that it waited for';
      try {
        const costs = each(nameOf);
        const total = `${costs.reduce((sum, { cpu }) => sum + cpu, 0).toFixed(0)} s of CPU in all, ${method}`;
        mkdirSync(REPORTS, { recursive: true });
        const file = join(REPORTS, `${title}.txt`);
        const lines = [`   CPU s   wall s  ${total}`, ...costs.map(line)];
        writeFileSync(file, `${lines.join('\n')}\n`);
        return [`cost: ${total}; each process is in ${file}`, ...lines.slice(1, 1 + PRINTED)];
      } catch (error) {
        return [`cost: cannot be told (${error})`];
      }
    },
    end: () => cgroup?.remove(),
  };
}

function line({ name, cpu, wall }: Cost): string {
  return `${cpu.toFixed(1).padStart(8)} ${(wall?.toFixed(1) ?? '-').padStart(8)}  ${name}`;
}
