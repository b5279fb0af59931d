// node bench/lists.ts: first, middle and last pages of the operators' lists, and the pages of the console, on the real service with a large database.

import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { parseArgs } from 'node:util';
import { startService } from '../src/main.ts';
import { grantIdText } from '../src/oauth/grants/grant.ts';
import { withChecksum } from '../src/oauth/keys/credential.ts';
import { createKeyring } from '../src/oauth/keys/keyring.ts';
import { newOperatorToken, operatorTokenDigest } from '../src/operator/access/operator-session.ts';
import { RIGHTS } from '../src/operator/access/rights.ts';
import { sealCursor } from '../src/operator/lists/cursor.ts';
import { makeLogger } from '../src/process/log.ts';
import { readConfiguration } from '../src/settings/configuration.ts';
import { parseRootKeys } from '../src/settings/root-keys.ts';
import type { Storage } from '../src/storage/opening/opened-storage.ts';
import { consoleTimes } from './lists-console.ts';
import { fillFailures } from './lists-failures.ts';
import { fillEvents, type Trail } from './lists-trail.ts';
import { onServer, open as openPostgresql } from './scaling-postgresql.ts';
import { fill as fillPostgresql } from './scaling-postgresql-fill.ts';
import { fill as fillSqlite, openDatabase, withFolder } from './scaling-sqlite.ts';
import { accountId, clientId, grantId, type MadeUp, madeUp, markdown, rootKey } from './scaling-store.ts';
import { median } from './statistics.ts';
import { freePort } from './target.ts';

const USAGE = `node bench/lists.ts [options]
  --store NAME   sqlite or postgresql (sqlite)
  --grants N     grants (1000000)     --people N   people (1000000)
  --events N     audit events (10000000)     --apps N     apps (10000)
  --rounds N     requests of each page (15)
`;

const { values } = parseArgs({
  options: {
    store: { type: 'string', default: 'sqlite' },
    grants: { type: 'string', default: '1000000' },
    people: { type: 'string', default: '1000000' },
    events: { type: 'string', default: '10000000' },
    apps: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '15' },
    help: { type: 'boolean', default: false },
  },
});

const OPERATOR = { kind: 'operator', id: 'bench', source: null, requestId: null } as const;
const HOUR_MS = 3_600_000;

/** A list: its query below /v1, its name and filter as its cursor has them, and the places before its middle and its end. */
type List = {
  readonly path: string;
  readonly name: string;
  readonly filter: object;
  readonly places: readonly unknown[];
};

if (values.help) process.stdout.write(USAGE);
else await run();

async function run(): Promise<void> {
  const [grants, people, events, apps] = [values.grants, values.people, values.events, values.apps].map(Number) as [
    number,
    number,
    number,
    number,
  ];
  const made = {
    ...madeUp(grants, Date.now() - grants - HOUR_MS),
    accounts: people,
    clients: apps,
  } as unknown as MadeUp;
  const trail = { events, people, apps, since: made.since - 365 * 24 * HOUR_MS, every: (365 * 24 * HOUR_MS) / events };
  const table =
    values.store === 'sqlite'
      ? await withFolder(async (folder) => {
          const path = join(folder, 'valetkey.db');
          await (await openDatabase(path)).close();
          await fillSqlite(path, made);
          const database = new DatabaseSync(path);
          const ask = async (sql: string) => database.prepare(sql).all();
          await fillEvents('sqlite', ask, trail);
          await fillFailures(ask, Date.now());
          database.exec('ANALYZE; PRAGMA wal_checkpoint(TRUNCATE)');
          database.close();
          return measured(`sqlite:${path}`, await keyOf(await openDatabase(path)), made, trail);
        })
      : await onServer({ max_wal_size: '8GB', shared_buffers: '2GB' }, async (url, ask) => {
          await fillPostgresql(ask, made);
          await fillEvents('postgresql', ask, trail);
          await fillFailures(ask, Date.now());
          await ask('VACUUM (ANALYZE)');
          return measured(url, await keyOf(await openPostgresql(url)), made, trail);
        });
  process.stdout.write(
    `${values.store}: ${grants} grants, ${people} people, ${events} events, ${apps} apps\n\n${table}\n`,
  );
}

/** Adds an operator with a key and a one-time address; returns both, and the history that cursors are sealed in. */
async function keyOf({ store, installation, close }: Pick<Storage, 'store' | 'installation' | 'close'>) {
  const [at, text] = [Date.now(), withChecksum(`vk_ok_${newOperatorToken()}`)];
  const event = { at, actor: OPERATOR, clientId: 'opr_bench', resourceOwnerId: null, grantId: null, detail: null };
  await store.addOperator(
    { id: 'opr_bench', name: 'bench', role: 'read', status: 'active', epoch: 0, createdAt: at },
    null,
    { ...event, action: 'operator_added' },
  );
  const key = {
    id: 'opk_bench',
    operatorId: 'opr_bench',
    name: 'bench',
    digest: operatorTokenDigest(text),
    rights: RIGHTS,
  };
  await store.addOperatorKey(
    { ...key, createdAt: at, expiresAt: at + 24 * HOUR_MS },
    { ...event, action: 'operator_key_added' },
  );
  const token = newOperatorToken();
  const address = {
    digest: operatorTokenDigest(token),
    operatorId: 'opr_bench',
    purpose: 'sign-in',
    createdAt: at,
  } as const;
  await store.addOneTimeAddress(
    { ...address, expiresAt: at + 24 * HOUR_MS },
    { ...event, action: 'operator_sign_in_address_made' },
  );
  await close();
  return { key: text, token, history: installation.history };
}

async function measured(
  url: string,
  { key, token, history }: { readonly key: string; readonly token: string; readonly history: Buffer },
  made: MadeUp,
  trail: Trail,
): Promise<string> {
  const [app, api, operator] = [await freePort(), await freePort(), await freePort()];
  const service = await startService(
    readConfiguration({
      VALETKEY_APP_URL: `http://127.0.0.1:${app}`,
      VALETKEY_API_URL: `http://127.0.0.1:${api}`,
      VALETKEY_OPERATOR_URL: `http://localhost:${operator}`,
      VALETKEY_DATABASE_URL: url,
      VALETKEY_KEYS: rootKey,
    }),
    { logger: makeLogger({ write: () => {} }, Date.now, 'error') },
  );
  const keyring = createKeyring(parseRootKeys(rootKey, 'bench'));
  keyring.sealIn(history);
  const rows: string[][] = [];
  for (const { path, name, filter, places } of listsOf(made, trail)) {
    const cursors = [
      '',
      ...places.map((place) => `after=${sealCursor(keyring, { list: name, filter }, place, Date.now())}`),
    ];
    const times: string[] = [];
    for (const cursor of cursors) times.push(await timesOf(`http://localhost:${operator}/v1${path}`, cursor, key));
    rows.push([path, ...times, ...Array(3 - times.length).fill('')]);
  }
  const pages = await consoleTimes(`http://localhost:${operator}`, token, Number(values.rounds), [
    ...[`/apps/${clientId(7)}`, `/apps/${clientId(7)}/failures`, `/people/${accountId(7)}`],
    ...[`/grants/${grantIdText(grantId(7, made))}`, `/events?client=${clientId(7)}`, '/events/7'],
  ]);
  await service.stop();
  return `${markdown(['list: shortest / median / longest ms (items)', 'first', 'middle', 'last'], rows)}\n\n${pages}`;
}

/** The shortest, the median and the longest of some requests, in ms, with the number of items. No more than a key may make. */
async function timesOf(list: string, cursor: string, key: string): Promise<string> {
  const isOne = /\/v1\/(status|grants\/)/.test(list);
  const page = `${list.includes('?') ? '&' : '?'}limit=200${cursor && `&${cursor}`}`;
  const address = isOne ? list : list + page;
  const times: number[] = [];
  let items = 0;
  for (let round = 0; round <= Number(values.rounds); round += 1) {
    const begin = performance.now();
    const answer = await fetch(address, { headers: { Authorization: `Bearer ${key}` } });
    const body = (await answer.json()) as { items?: unknown[] };
    if (answer.status !== 200) throw new Error(`${list}: ${answer.status} ${JSON.stringify(body)}`);
    times.push(performance.now() - begin);
    items = body.items?.length ?? 1;
    await new Promise((resolve) => setTimeout(resolve, 110));
  }
  // The first one is not counted: the process has just begun.
  const counted = times.slice(1);
  const figures = [Math.min(...counted), median(counted), Math.max(...counted)].map((ms) => ms.toFixed(0));
  return `${figures.join(' / ')} (${items})`;
}

function listsOf(made: MadeUp, { events, since, every }: Trail): List[] {
  const { grants, accounts, clients } = made;
  const client = (n: number) => ({ id: clientId(n), name: `App ${n}`, createdAt: made.since });
  const account = (n: number) => ({ id: accountId(n), createdAt: made.since });
  const grant = (n: number) => ({ id: grantIdText(grantId(n, made)), clientId: clientId(n % clients) });
  const time = (part: number) => Math.round(since + part * events * every);
  const iso = (part: number) => new Date(time(part)).toISOString();
  const ends = (count: number) => [Math.floor(count / 2), Math.max(0, count - 150)];
  const starts = (count: number) => [Math.floor(count / 2), Math.min(count - 1, 150)];
  const newest = { order: 'newest' };
  const ofClient = { clientId: clientId(7) };
  return [
    { path: '/clients', name: 'clients', filter: {}, places: ends(clients).map(client) },
    {
      path: '/clients?name=app',
      name: 'clients',
      filter: { name: 'app' },
      places: [client(5000 % clients), client(9999 % clients)],
    },
    { path: '/clients?state=paused', name: 'clients', filter: { status: 'paused' }, places: ends(clients).map(client) },
    {
      path: `/clients?unused_since=${iso(0)}`,
      name: 'clients',
      filter: { unusedSince: time(0) },
      places: ends(clients).map(client),
    },
    ...[-1, 1, 30 * 24].map((hours): List => {
      // Nobody failed in an hour that is still to come: all apps are looked at.
      const failingSince = Math.round((Date.now() - hours * HOUR_MS) / 1000) * 1000;
      const path = `/clients?failing_since=${new Date(failingSince).toISOString()}`;
      return { path, name: 'clients', filter: { failingSince }, places: ends(clients).map(client) };
    }),
    { path: '/users', name: 'users', filter: {}, places: starts(accounts).map(account) },
    { path: '/users?email=user-7%40mail.example.com', name: 'users', filter: {}, places: [] },
    { path: '/users?username=user7', name: 'users', filter: {}, places: [] },
    { path: '/grants', name: 'grants', filter: {}, places: starts(grants).map(grant) },
    {
      path: `/grants?client=${clientId(7)}`,
      name: 'grants',
      filter: ofClient,
      places: starts(grants).map((n) => grant(n - (n % clients) + 7)),
    },
    { path: `/grants?user=${accountId(7)}`, name: 'grants', filter: {}, places: [] },
    { path: '/grants?state=revoked', name: 'grants', filter: { status: 'revoked' }, places: starts(grants).map(grant) },
    { path: '/audit-events', name: 'events', filter: newest, places: starts(events) },
    { path: '/audit-events?order=oldest', name: 'events', filter: { order: 'oldest' }, places: ends(events) },
    {
      path: `/audit-events?client=${clientId(7)}`,
      name: 'events',
      filter: { ...newest, ...ofClient },
      places: starts(events),
    },
    { path: `/audit-events?user=${accountId(7)}`, name: 'events', filter: {}, places: [] },
    { path: '/audit-events?grant=00000007-0000-7000-8000-000000000007', name: 'events', filter: {}, places: [] },
    {
      path: '/audit-events?action=client_updated',
      name: 'events',
      filter: { ...newest, action: 'client_updated' },
      places: starts(events),
    },
    {
      path: '/audit-events?action=client_deleted',
      name: 'events',
      filter: { ...newest, action: 'client_deleted' },
      places: starts(events),
    },
    {
      path: '/audit-events?operator=opr_7',
      name: 'events',
      filter: { ...newest, operatorId: 'opr_7' },
      places: starts(events),
    },
    {
      path: `/audit-events?until=${iso(0.5)}`,
      name: 'events',
      filter: { ...newest, until: time(0.5) },
      places: [events / 4, 150],
    },
    {
      path: `/audit-events?order=oldest&since=${iso(0.5)}`,
      name: 'events',
      filter: { order: 'oldest', since: time(0.5) },
      places: [(3 * events) / 4, events - 150],
    },
    { path: `/grants/${grant(7).id}`, name: '', filter: {}, places: [] },
    { path: '/status', name: '', filter: {}, places: [] },
  ];
}
