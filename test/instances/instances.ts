/** Several instances on one database, with one set of keys and one public address, as behind a load balancer. */
import { StoreUnavailable } from '../../src/oauth/store.ts';
import { makeRootKey } from '../../src/settings/root-keys.ts';
import { signedInBrowser } from '../support/flow.ts';
import type { PATIENT_FOR_ROWS } from '../support/postgres.ts';
import { addClient, addUser, freePort, type Lifetime, startTestService, type TestService } from '../support/service.ts';
import type { SharedPostgres } from '../support/shared-postgres.ts';
import { addResourceServer } from '../support/standard.ts';
import { type Instance, type Person, Recorder } from './recorder.ts';

/** An instance in this process. */
export type LocalInstance = TestService & Instance;

/** What all instances of an installation are given. */
export type Shared = { readonly VALETKEY_DATABASE_URL: string; readonly VALETKEY_KEYS: string };

/** An installation: its instances, its app's requests, and people who are signed in. */
export type TestInstallation<One extends Instance = LocalInstance> = {
  readonly instances: readonly One[];
  readonly recorder: Recorder;
  readonly people: readonly [Person, ...Person[]];
  readonly shared: Shared;
};

/** A new database, as the server makes it of that template, and new keys. */
export async function newShared(server: SharedPostgres, template?: string): Promise<Shared> {
  return { VALETKEY_DATABASE_URL: await server.createDatabase(template), VALETKEY_KEYS: makeRootKey() };
}

let starting: Promise<unknown> = Promise.resolve();

/** Starts an instance in this process, one after the other: two might find the same port free. */
export function startInstance(
  t: Lifetime,
  name: string,
  shared: Shared,
  patience: Partial<typeof PATIENT_FOR_ROWS> = {},
): Promise<LocalInstance> {
  const started = starting.then(async () => {
    const variables = {
      ...shared,
      ...BEHIND_BALANCER,
      VALETKEY_APP_LISTEN: `127.0.0.1:${await freePort()}`,
      VALETKEY_API_LISTEN: `127.0.0.1:${await freePort()}`,
    };
    const service = await startTestService(t, variables, undefined, patience);
    return { ...service, name };
  });
  starting = started.catch(() => {});
  return started;
}

/** What instances behind one load balancer are given; here nobody listens at its addresses. */
export const BEHIND_BALANCER = {
  VALETKEY_APP_URL: 'http://127.0.0.1:9',
  VALETKEY_API_URL: 'http://127.0.0.2:9',
  VALETKEY_TRUSTED_PROXIES: '127.0.0.1',
};

/** Starts three instances, and gives them an app, an API and so many people. */
export async function startThree(
  t: Lifetime,
  server: SharedPostgres,
  people = 1,
  patience: Partial<typeof PATIENT_FOR_ROWS> = {},
): Promise<TestInstallation> {
  const shared = await newShared(server);
  const instances = await Promise.all(['a', 'b', 'c'].map((name) => startInstance(t, name, shared, patience)));
  return furnish(instances, instances[0] as LocalInstance, shared, people);
}

/** Makes an app, an API and people through one instance of this process, and signs the people in at the others in turn. */
export async function furnish<One extends Instance>(
  instances: readonly One[],
  admin: TestService,
  shared: Shared,
  people: number,
): Promise<TestInstallation<One>> {
  const client = await onceFree(() => addClient(admin));
  const api = await onceFree(() => addResourceServer(admin));
  const signedIn = Array.from({ length: people }, async (_, index): Promise<Person> => {
    const email = `person${index}@example.com`;
    const { id: accountId } = await onceFree(() => addUser(admin, email));
    const at = instances[index % instances.length] as One;
    return { accountId, email, browser: await signedInBrowser(at as unknown as TestService, email) };
  });
  const [first, ...others] = await Promise.all(signedIn);
  return { instances, recorder: new Recorder(client, api), people: [first as Person, ...others], shared };
}

/** Does something again when a busy machine had no connection for it in time. */
async function onceFree<T>(act: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
    }
  }
}
