/** Starts a version of the program from its folder, at a time of its own. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { TestConsole } from '../support/console.ts';
import { Clock, freePort } from '../support/service.ts';

type Program = typeof import('../../src/main.ts') &
  typeof import('../../src/settings/configuration.ts') &
  typeof import('../../src/process/log.ts');

/** The service of the version in `folder`, with a clock that stands at `at` (ms) until it is moved. */
export async function startVersion(
  folder: string,
  at: number,
  variables: Readonly<Record<string, string>>,
  write: (line: string) => void,
): Promise<TestConsole> {
  const load = (file: string) => import(pathToFileURL(join(folder, 'src', file)).href) as Promise<Program>;
  const [{ startService }, { readConfiguration }, { makeLogger }] = [
    await load('main.ts'),
    await load('settings/configuration.ts'),
    await load('process/log.ts'),
  ];
  const clock = new Clock();
  clock.advance((at - clock.now()) / 1000);
  const url = async () => `http://127.0.0.1:${await freePort()}`;
  const operatorUrl = `http://localhost:${await freePort()}`;
  const configuration = readConfiguration({
    VALETKEY_OPERATOR_URL: operatorUrl,
    VALETKEY_APP_URL: await url(),
    VALETKEY_API_URL: await url(),
    ...variables,
  });
  const running = await startService(configuration, { now: clock.now, logger: makeLogger({ write }, Date.now) });
  return { ...running, operatorUrl, clock, log: [] };
}
