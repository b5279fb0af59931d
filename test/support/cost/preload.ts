/**
 * Loaded first in each process of tests (`--import`). Enters a cgroup of its own, which everything that the process starts
 * inherits, and notes the wall time at the end.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { enterCgroup } from './cgroup.ts';

const { TEST_COST_NOTES: notes, TEST_COST_CGROUP: cgroup, TEST_COST_RUN: run } = process.env;
// Programs and threads that the tests start belong to this process.
delete process.env['TEST_COST_NOTES'];
delete process.env['TEST_COST_CGROUP'];
delete process.env['TEST_COST_RUN'];

if (notes) {
  const name = encodeURIComponent(process.argv[1] ?? '') + (run ? ` with ${run}` : '');
  const start = process.cpuUsage();
  const isCounted = cgroup !== undefined && enterCgroup(join(cgroup, name), process.pid);
  process.once('exit', () => {
    try {
      const uncounted = isCounted ? (start.user + start.system) / 1e6 : secondsWithChildren();
      writeFileSync(join(notes, name), JSON.stringify({ wall: performance.now() / 1000, uncounted }));
    } catch {} // An error here would fail the tests.
  });
}

/** Returns the CPU time of this process and, on Linux, of all children that it waited for (seconds). */
function secondsWithChildren(): number {
  const { user, system } = process.cpuUsage();
  if (process.platform !== 'linux') return (user + system) / 1e6;
  // proc_pid_stat(5): cutime and cstime, the 14th and 15th field after the program's name, in ticks of 10 ms.
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return (user + system) / 1e6 + (Number(fields[13]) + Number(fields[14])) / 100;
}
