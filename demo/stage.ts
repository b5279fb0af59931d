/** Prepares a demonstration: the service on throw-away data, a user to sign in as, and an app. */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Installation } from '../src/cli/command/context.ts';
import type { RunningService } from '../src/wiring/running-service.ts';
import type { AccountsPlace } from './postcards/accounts-place.ts';
import { LOGO_FILE } from './product/picture.ts';
import { APPS_PATH, PRODUCT_NAME, runProduct, SIGN_IN_PATH } from './product/server.ts';
import type { Hear } from './product/valetkey.ts';
import { makePerson, type Seeded, seed, seedProduct } from './seed.ts';

/** The parts that the program lends. */
export type Lent = {
  /** Starts the service with these variables. */
  readonly start: (variables: Record<string, string>) => Promise<RunningService>;
  /** Opens the installation of these variables as a command does, and makes it where it is not there. */
  readonly open: (variables: Record<string, string>) => Promise<Installation>;
};

/** How a stage is set. */
export type StageParts = {
  readonly lent: Lent;
  /** For all that is written. */
  readonly directory: string;
  /** Picks the ports of the service. */
  readonly pickPorts: () => Promise<number[]>;
  /** A server for the product, where there is one. */
  readonly listen: () => Promise<Server>;
  /** The app's. */
  readonly redirectUri: string;
};

/** All of it, ready. */
export type Stage = {
  readonly running: RunningService;
  readonly seeded: Seeded;
  /** The place of the user's account. */
  readonly accounts: AccountsPlace;
  readonly product: StagedProduct | null;
  /** The operators' console; null without it. */
  readonly console: StagedConsole | null;
  stop(): Promise<void>;
};

/** The console: a one-time address that signs the operator in, and a live token that somebody found in a public place. */
export type StagedConsole = { readonly signInUrl: string; readonly leakedToken: string };

/** A product that signs people in. */
export type StagedProduct = {
  readonly url: string;
  /** Has somebody hear of each call that its server makes. */
  onCall(hear: Hear): void;
};

/** The person has a password at Valetkey. */
export async function setStage({ lent, redirectUri, ...where }: StageParts): Promise<Stage> {
  const running = await startOnPorts(where, lent.start);
  const seeded = await seed(running.installation, redirectUri);
  const accounts = { name: 'Valetkey', appsUrl: `${running.appUrl}/account/apps` };
  return { running, seeded, accounts, product: null, console: null, stop: running.stop };
}

/** The person has an account at the product, and none of the ways to sign in is Valetkey's own. */
export async function setProductStage({ lent, redirectUri, listen, ...where }: StageParts): Promise<Stage> {
  const server = await listen();
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const person = makePerson();
  let hear: Hear = () => {};
  try {
    let registered: Awaited<ReturnType<typeof seedProduct>> | undefined;
    const running = await startOnPorts(where, async (variables) => {
      const installation = await lent.open(variables);
      const settings = { name: PRODUCT_NAME, signInUrl: origin + SIGN_IN_PATH, redirectUri };
      registered = await seedProduct(installation, settings).finally(() => installation.close());
      return lent.start({
        ...variables,
        VALETKEY_SIGN_IN_METHODS: registered.providerId,
        VALETKEY_PRODUCT_NAME: PRODUCT_NAME,
        VALETKEY_PRODUCT_COLOR: '#3b3f9a',
        VALETKEY_PRODUCT_LOGO: LOGO_FILE,
      });
    });
    if (!registered) throw new Error('the service runs, and nothing was registered');
    const { providerId, providerSecret, ...app } = registered;
    const stopProduct = runProduct(server, {
      origin,
      registration: { appUrl: running.appUrl, providerId, providerSecret },
      people: [person],
      hear: (purpose, exchange) => hear(purpose, exchange),
    });
    const onCall = (by: Hear) => {
      hear = by;
    };
    return {
      running,
      seeded: { ...person, ...app },
      accounts: { name: PRODUCT_NAME, appsUrl: origin + APPS_PATH },
      product: { url: origin, onCall },
      console: null,
      stop: async () => {
        await stopProduct();
        await running.stop();
      },
    };
  } catch (error) {
    server.close();
    throw error;
  }
}

/** Starts the service on two ports; picks them anew, and begins anew, where somebody else was faster. */
export async function startOnPorts(
  { directory, pickPorts }: Pick<StageParts, 'directory' | 'pickPorts'>,
  start: Lent['start'],
): Promise<RunningService> {
  for (let tries = 1; ; tries++) {
    const [app, api, operator] = await pickPorts();
    try {
      return await start({
        VALETKEY_APP_URL: `http://localhost:${app}`,
        VALETKEY_API_URL: `http://localhost:${api}`,
        ...(operator !== undefined && { VALETKEY_OPERATOR_URL: `http://localhost:${operator}` }),
        VALETKEY_DATABASE_URL: `sqlite:${join(directory, `demo-${tries}.db`)}`,
        VALETKEY_KEYS_FILE: join(directory, `keys-${tries}`),
        // For whoever copies the code by hand into the next request.
        VALETKEY_CODE_TTL: '10m',
      });
    } catch (error) {
      if (tries === 10 || (error as Error).name !== 'InstallationError') throw error;
    }
  }
}
