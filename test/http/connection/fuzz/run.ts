/** npm run test:reader: compares the two readers of HTTP on millions of request heads, and says on how many. */
import { parseArgs } from 'node:util';
import { type Counts, compareReaders } from './differential.ts';

const USAGE = `npm run test:reader -- [options]
  --heads N   how many request heads (10000000, some 3 minutes)
  --seed N    for the lots; another one each day unless it is given
`;
const REPORT_EVERY = 1_000_000;
const DAY_MS = 86_400_000;

const { values } = parseArgs({
  options: {
    heads: { type: 'string', default: '10000000' },
    seed: { type: 'string', default: String(Math.floor(Date.now() / DAY_MS)) },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) process.stdout.write(USAGE);
else await run(Number(values.seed), Number(values.heads));

async function run(seed: number, heads: number): Promise<void> {
  let next = REPORT_EVERY;
  console.log(`seed ${seed}`);
  const counts = await compareReaders(seed, heads, (soFar) => {
    if (soFar.heads < next) return;
    next += REPORT_EVERY;
    console.log(sentence(soFar));
  });
  console.log(`${sentence(counts)}: no difference`);
}

function sentence({ heads, connections, taken, given, refused }: Counts): string {
  return (
    `${heads} heads on ${connections} connections, of which our reader took ${taken} requests and gave ${given} connections ` +
    `to Node.js; Node.js refused ${refused}`
  );
}
