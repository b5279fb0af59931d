/** The promised faces of a version: the APIs' descriptions, the settings, and what commands print with --json. */
import assert from 'node:assert/strict';
import { configurationTable } from '../../src/settings/variables.ts';
import { runCommand } from '../support/command.ts';
import { startConsole } from '../support/console.ts';
import { factsOfJson } from './differences.ts';

/** The faces of a version. `settings` and `json` are facts. */
export type Faces = {
  readonly api: object;
  readonly operatorApi: object;
  readonly settings: readonly string[];
  readonly json: readonly string[];
};

/** Commands that only read, each with the rows of `other-states.ts` that it is about. */
const READS = [
  ...['client list', 'client show app_old', 'client failures app_old', 'user list', 'user show usr_product'],
  ...['resource-server list', 'resource-server show rs_old', 'scope list', 'scope show old.reads'],
  ...['identity-provider list', 'identity-provider show forum', 'operator list', 'operator show Old'],
  ...['grant list', 'audit list --limit 1000', 'keys list', 'database check'],
];

/** Commands that make something, in this order. */
const WRITES = [
  'user add --email made@example.com --name Made',
  'user invite made@example.com',
  'client register --name Made --redirect-uri https://made.example/cb',
  'resource-server register --name Made --resource https://made.example',
  'scope define made --sentence en=Made',
  'identity-provider register --id made --name Made --sign-in-url https://made.example/sign-in',
  'operator add Made --role read --no-link',
  'keys generate',
];

/** Tells the faces of this version. The variables are of a filled database, to which this adds something. */
export async function facesOf(variables: Readonly<Record<string, string>>): Promise<Faces> {
  const facts = new Set<string>();
  for (const line of [...READS, ...WRITES]) {
    const { stdout, stderr } = await runCommand([...line.split(' '), '--json'], variables);
    assert.notEqual(stdout, '', `${line}: ${stderr}`);
    const [command = ''] = /^[a-z-]+ [a-z-]+/.exec(line) ?? [];
    factsOfJson(command, JSON.parse(stdout), facts);
  }
  const lifetime = {
    ends: [] as (() => Promise<void> | void)[],
    after: (end: () => Promise<void> | void) => void lifetime.ends.push(end),
  };
  const service = await startConsole(lifetime);
  const read = async (url: string) => (await (await fetch(`${url}/openapi.json`)).json()) as object;
  const [api, operatorApi] = [await read(service.appUrl), await read(service.operatorUrl)];
  for (const end of lifetime.ends) await end();
  const rows = [...configurationTable().matchAll(/^\| `(\w+)` \| (\S+) \|/gm)];
  const settings = rows.map(([, variable, initial]) => `${variable}: ${initial}`);
  return { api, operatorApi, settings, json: [...facts].sort() };
}
