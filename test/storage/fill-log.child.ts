/** Fills the log of a database whose path it is given, and prints how long it was (bytes) and how many there were one after the other. */
import { openLog } from './filled-log.ts';

const ends: (() => unknown)[] = [];
const { fill, reports, logs } = await openLog({ after: (end) => void ends.unshift(end) }, process.argv[2] as string);
const longest = await fill(80, { length: 1000, together: 64 });
console.log(JSON.stringify({ longest, logs: logs(), reports }));
for (const end of ends) await end();
