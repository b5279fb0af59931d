/** A cgroup that counts the CPU time of processes and of everything that they start. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/** A cgroup inside that of this process, with one below it for each process that is counted. */
export type Cgroup = {
  readonly version: 1 | 2;
  readonly folder: string;
  /** Returns the CPU time of each cgroup below `folder`, by name (seconds). */
  seconds(): Map<string, number>;
  /** Removes all of it. Processes that still run go back to the cgroup of this process. */
  remove(): void;
};

/** What finds each version in /proc/self/cgroup and /proc/self/mountinfo, and the CPU time that it counted (seconds). */
const VERSIONS = [
  {
    version: 2,
    membership: /^0::(.*)$/m,
    mount: /^\S+ \S+ \S+ (\S+) (\S+) .* - cgroup2 /m,
    seconds: (folder: string) => Number(/^usage_usec (\d+)$/m.exec(read(join(folder, 'cpu.stat')))?.[1]) / 1e6,
  },
  {
    version: 1,
    membership: /^\d+:(?:[^:]*,)?cpuacct(?:,[^:]*)?:(.*)$/m,
    mount: /^\S+ \S+ \S+ (\S+) (\S+) .* - cgroup \S+ .*\bcpuacct\b/m,
    seconds: (folder: string) => Number(read(join(folder, 'cpuacct.usage'))) / 1e9,
  },
] as const;

/**
 * Makes a cgroup of the first of these versions that this user may use, and moves this process into one of that name below it.
 * Returns null if there is none.
 */
export function makeCgroup(name: string, versions: readonly number[] = [2, 1]): Cgroup | null {
  for (const { version, membership, mount, seconds } of VERSIONS.filter((one) => versions.includes(one.version))) {
    const own = membership.exec(read('/proc/self/cgroup'))?.[1];
    const [, root, point] = mount.exec(read('/proc/self/mountinfo')) ?? [];
    if (own === undefined || root === undefined || point === undefined) continue;
    const parent = join(point, relative(root, own));
    const folder = join(parent, `valetkey-tests-${process.pid}`);
    const remove = () => removeCgroup(folder, parent);
    if (enterCgroup(join(folder, encodeURIComponent(name)), process.pid))
      return {
        version,
        folder,
        seconds: () => new Map(below(folder).map((one) => [one, seconds(join(folder, one))])),
        remove,
      };
    remove();
  }
  return null;
}

/** Moves a process into a cgroup, which is made if necessary. Returns false if that is not possible. */
export function enterCgroup(folder: string, pid: number): boolean {
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'cgroup.procs'), String(pid));
    return true;
  } catch {
    return false;
  }
}

function removeCgroup(folder: string, parent: string): void {
  if (!existsSync(folder)) return;
  for (const name of below(folder)) removeCgroup(join(folder, name), parent);
  for (const pid of read(join(folder, 'cgroup.procs')).split('\n')) if (pid) enterCgroup(parent, Number(pid));
  try {
    rmdirSync(folder);
  } catch {} // A process is ending in it. What stays is empty.
}

function below(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

function read(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}
