/** Imported first: a disk whose syncs can be made to take longer. */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

/** How much longer a sync takes (ms). */
export const slowDisk = { delay: 0 };

const { fdatasync } = fs;
fs.fdatasync = ((descriptor: number, callback: fs.NoParamCallback) => {
  setTimeout(() => fdatasync(descriptor, callback), slowDisk.delay);
}) as typeof fs.fdatasync;
syncBuiltinESMExports();
