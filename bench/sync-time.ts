/** How long a sync takes here: much of what durable writes cost, and very different from disk to disk. */
import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { median } from './statistics.ts';

const TIMES = 300;
const PAGE = Buffer.alloc(4096, 1);

/** The median of a `fdatasync` after a page was appended to a file in some folder, in ms. */
export function measureSync(folder: string): number {
  const path = join(folder, 'sync');
  const file = openSync(path, 'w');
  const times = Array.from({ length: TIMES }, () => {
    writeSync(file, PAGE);
    const start = performance.now();
    fdatasyncSync(file);
    return performance.now() - start;
  });
  closeSync(file);
  rmSync(path);
  return median(times);
}
