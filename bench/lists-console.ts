/** How long the console's pages take, as a signed-in operator asks for them. */
import { markdown } from './scaling-store.ts';
import { median } from './statistics.ts';

const PAGES = [
  ...[
    '/',
    '/apps',
    '/apps?q=app',
    '/apps?show=paused',
    '/apps?show=failing',
    '/apps?show=failing&q=app+7',
    '/apps?show=unused',
  ],
  ...['/people', '/events', '/events?action=client_deleted', '/apis', '/products', '/scopes', '/health', '/operators'],
];
/** Pause between requests, so that they stay within the limit of one source (ms). */
const PAUSE_MS = 110;

/** Signs in at a one-time address, and returns a table: shortest, median and longest time (ms), and size, of each page. */
export async function consoleTimes(
  origin: string,
  token: string,
  rounds: number,
  more: readonly string[],
): Promise<string> {
  const cookie = await signIn(origin, token);
  const rows: string[][] = [];
  for (const path of [...PAGES, ...more]) {
    const times: number[] = [];
    let bytes = 0;
    for (let round = 0; round <= rounds; round += 1) {
      const begin = performance.now();
      const answer = await fetch(origin + path, { headers: { Cookie: cookie }, redirect: 'manual' });
      bytes = (await answer.arrayBuffer()).byteLength;
      if (answer.status !== 200) throw new Error(`${path}: ${answer.status}`);
      // The first one is not counted, as in the lists.
      if (round > 0) times.push(performance.now() - begin);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
    const figures = [Math.min(...times), median(times), Math.max(...times)].map((ms) => ms.toFixed(0));
    rows.push([path, figures.join(' / '), (bytes / 1000).toFixed(1)]);
  }
  return markdown(['page', 'shortest / median / longest ms', 'KB'], rows);
}

async function signIn(origin: string, token: string): Promise<string> {
  const answer = await fetch(`${origin}/sign-in?token=${token}`, {
    method: 'POST',
    headers: { 'Sec-Fetch-Site': 'same-origin', Origin: origin },
    redirect: 'manual',
  });
  const cookie = answer.headers
    .getSetCookie()
    .map((line) => line.replace(/;.*/, ''))
    .join('; ');
  if (answer.status !== 303 || cookie === '') throw new Error(`the one-time address was refused: ${answer.status}`);
  return cookie;
}
