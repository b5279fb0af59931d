/** The wiring of the domain: one installation over an open database, for the service and for each command. */

import { UserImport } from '../accounts/import/user-import.ts';
import { UserLinks } from '../accounts/import/user-links.ts';
import { PasswordHasher } from '../accounts/passwords/password-hash.ts';
import { PasswordRenewal } from '../accounts/passwords/password-renewal.ts';
import { ExternalSignIns } from '../accounts/providers/external-sign-ins.ts';
import { ProviderAuthenticator } from '../accounts/providers/provider-authenticator.ts';
import { ProviderUsers } from '../accounts/providers/provider-users.ts';
import { newSignInTally } from '../accounts/providers/sign-in-tally.ts';
import { Accounts } from '../accounts/sign-in/accounts.ts';
import { makeSignInLimits, makeThrottles } from '../accounts/sign-in/rate-limits.ts';
import { SignInFloor } from '../accounts/sign-in/sign-in-floor.ts';
import { WrongSignIns } from '../accounts/sign-in/wrong-sign-ins.ts';
import { assertionAudiences, endpointsOf } from '../http/service/paths.ts';
import { Activity } from '../oauth/activity/activity.ts';
import { PageFailures } from '../oauth/activity/page-failures.ts';
import { ClientAuthenticator } from '../oauth/clients/client-authenticator.ts';
import { ClientKeys } from '../oauth/clients/client-keys.ts';
import type { FetchJson } from '../oauth/clients/key-set.ts';
import { GrantRegistry } from '../oauth/connected-apps/grant-registry.ts';
import { DeviceFlow } from '../oauth/device/device-flow.ts';
import type { Keyring } from '../oauth/keys/keyring.ts';
import { SigningKeys } from '../oauth/openid/signing-keys.ts';
import { AuthorizationServer } from '../oauth/protocol/authorization-server.ts';
import { Introspection } from '../oauth/protocol/introspection.ts';
import { OpenIdConnect } from '../oauth/protocol/openid-connect.ts';
import { newProtocolTally } from '../oauth/protocol/protocol-tally.ts';
import { OperatorAccess } from '../operator/access/access.ts';
import { OperatorSignIn } from '../operator/access/operator-sign-in.ts';
import { OperatorRegistry } from '../operator/access/operators.ts';
import { relyingParty } from '../operator/access/webauthn.ts';
import { AppActivity } from '../operator/apps/app-activity.ts';
import { ClientDocuments } from '../operator/apps/client-documents.ts';
import { ClientRegistry } from '../operator/apps/client-registry.ts';
import { HandOvers } from '../operator/hand-over/hand-overs.ts';
import { Idempotency } from '../operator/idempotency.ts';
import { Backups } from '../operator/installation/backups.ts';
import { Identification } from '../operator/leaks/identify-credential.ts';
import { Lists } from '../operator/lists/lists.ts';
import { IdentityProviderRegistry } from '../operator/products-and-apis/identity-provider-registry.ts';
import {
  type ProviderTestParts,
  type SignInSettings,
  testMethods,
  testProvider,
} from '../operator/products-and-apis/provider-test.ts';
import { ResourceServerRegistry } from '../operator/products-and-apis/resource-server-registry.ts';
import { ScopeRegistry } from '../operator/products-and-apis/scope-registry.ts';
import { KeyRegistry } from '../operator/root-keys/key-registry.ts';
import { AuditTrail } from '../operator/trail/audit-trail.ts';
import { pagePaths } from '../pages/layout/page-paths.ts';
import { SigningThread } from '../process/signing.ts';
import { type Configuration, lifetimesOf, outboundRules } from '../settings/configuration.ts';
import type { Storage } from '../storage/opening/opened-storage.ts';

/**
 * The process as the wiring uses it: clock (ms since the epoch), stopwatch (ms since any start), timers (ms), and
 * names.
 */
export type WiringWorld = {
  readonly now: () => number;
  readonly stopwatch: () => number;
  readonly later: (act: () => void, ms: number) => () => void;
  readonly wait: (ms: number) => Promise<void>;
  readonly operator: string;
  /** Name of this process in audit events that it causes by itself. */
  readonly service: string;
  /** Receives sentences for the operator's log. */
  readonly report: (sentence: string) => void;
  readonly outbound: OutboundDoor;
  /** Asks the service at an address for its sign-in methods; null in the service itself. */
  readonly askMethods: ((appUrl: string) => Promise<readonly string[] | null>) | null;
};

/** Outbound requests to addresses from outside the configuration, guarded by `process/outbound.ts`. */
export type OutboundDoor = {
  readonly head: ProviderTestParts['get'];
  readonly fetchJson: FetchJson;
};

/** A wired installation. */
export type WiredInstallation = ReturnType<typeof makeInstallation>;

/** Wires the domain over an open database. */
export function makeInstallation(
  configuration: Configuration,
  keyring: Keyring,
  { store, counters, close, instances, countKeyUses, installation }: Storage,
  { now, stopwatch, later, wait, operator: operatorName, service, report, outbound, askMethods }: WiringWorld,
) {
  const lifetimes = lifetimesOf(configuration);
  const prefix = configuration.tokenPrefix;
  const throttles = makeThrottles(counters);
  const operator = { kind: 'operator', id: operatorName, source: null, requestId: null } as const;
  const hasher = new PasswordHasher(keyring);
  const limits = makeSignInLimits({ keyring, counters, throttles, now, later });
  const wrongSignIns = new WrongSignIns(store, now);
  const floor = new SignInFloor({ store, hasher, stopwatch, later });
  const guessable = [configuration.productName, 'valetkey'];
  const { appUrl, apiUrl, signInMethods: methods } = configuration;
  const tally = newProtocolTally();
  const signIns = newSignInTally();
  const { restoredAt } = installation;
  const activity = new Activity({ store, now, later, report });
  const parts = {
    activity,
    store,
    keyring,
    lifetimes,
    prefix,
    ownResource: apiUrl,
    tally,
    now,
    restoredAt,
  };
  const fetchJson: FetchJson = (url, maxBytes) => outbound.fetchJson(url, maxBytes);
  const actor = { kind: 'service', id: service, source: null, requestId: null } as const;
  const authenticator = new ClientAuthenticator({
    ...parts,
    keys: new ClientKeys({ store, fetchJson, now, actor, report }),
    throttle: throttles.clientAndSource,
    audiences: assertionAudiences(appUrl),
  });
  const accounts = new Accounts({
    store,
    hasher,
    ...limits,
    floor,
    wrongSignIns,
    signIns,
    now,
    guessable,
    methods,
    signInThrottle: throttles.signIns,
  });
  const signingKeys = new SigningKeys({ store, keyring, now, actor });
  const signingThread = new SigningThread(report);
  const openIdConnect = new OpenIdConnect({
    ...parts,
    signingKeys,
    sign: (text, key) => signingThread.sign(text, key),
    issuer: appUrl,
  });
  const auditTrail = new AuditTrail({ store, keyring, installation: installation.id, now });
  const grants = new GrantRegistry(store, now);
  const providers = new ProviderAuthenticator({
    ...parts,
    throttle: throttles.clientAndSource,
    issuer: appUrl,
    methods,
  });
  const externalSignIns = new ExternalSignIns({
    store,
    keyring,
    methods,
    providers,
    signIns,
    now,
    throttle: throttles.signIns,
  });
  const identityProviders = new IdentityProviderRegistry(parts);
  const endpoints = endpointsOf(appUrl);
  const paths = pagePaths(configuration.pagesBasePath);
  const settings = async (): Promise<SignInSettings> => {
    const { signInEndpoint } = endpoints;
    if (!askMethods) return { of: 'service', methods, signInEndpoint };
    // A terminal that lacks the service's variables has the default address.
    const unlike = installation.differences.find(({ variable }) => variable === 'VALETKEY_APP_URL');
    const servedUrl = unlike?.recorded || appUrl;
    const served = await askMethods(servedUrl);
    return served
      ? { of: 'service', methods: served, signInEndpoint: endpointsOf(servedUrl).signInEndpoint }
      : { of: 'command', methods, signInEndpoint };
  };
  const testParts = {
    identityProviders,
    people: store,
    externalSignIns,
    get: (url: string) => outbound.head(url),
    settings,
    continueTo: paths.apps,
    now,
  };
  const appActivity = new AppActivity(store, now);
  const clients = new ClientRegistry({
    store,
    prefix,
    accessTokenLifetime: lifetimes.accessToken,
    now,
    onSignInAllowed: async () => void (await signingKeys.ensure()),
  });
  const operatorRegistry = new OperatorRegistry({ ...parts, operatorUrl: configuration.operatorUrl });
  return {
    authorizationServer: new AuthorizationServer({
      ...parts,
      clients: authenticator,
      openIdConnect,
      issuer: appUrl,
      signsInElsewhere: methods.some((id) => id !== 'password'),
    }),
    deviceFlow: new DeviceFlow({ ...parts, clients: authenticator }),
    introspection: new Introspection({ ...parts, throttle: throttles.clientAndSource }),
    clients,
    clientDocuments: new ClientDocuments({
      store,
      clients,
      isLocal: outboundRules(configuration).isLocal,
      fetchJson,
      now,
    }),
    accounts,
    imports: new UserImport({ store, hasher, now }),
    links: new UserLinks({ store, accounts, now }),
    startWrapping: (report: (error: Error) => void) =>
      new PasswordRenewal({
        list: (after, limit) => store.listUnwrapped(after, limit),
        renew: (password) => hasher.wrap(password),
        store,
        later,
        report,
      }),
    startResealing: (report: (error: Error) => void) =>
      new PasswordRenewal({
        list: async (after, limit) => {
          for (const keyId of keyring.keyIds.filter((id) => id !== keyring.currentKeyId)) {
            const found = await store.listSealedWith(keyId, after, limit);
            if (found.length > 0) return found;
          }
          return [];
        },
        renew: (password) => hasher.reseal(password),
        store,
        later,
        report,
      }),
    wrongSignIns,
    grants,
    externalSignIns,
    providers,
    providerUsers: new ProviderUsers({
      store,
      keyring,
      grants,
      providers,
      now,
      calls: throttles.providerCalls,
      endings: throttles.providerEndings,
    }),
    resourceServers: new ResourceServerRegistry(parts),
    scopes: new ScopeRegistry(store, now),
    identityProviders,
    signInSettings: settings,
    testProvider: (id: string) => testProvider(testParts, id),
    testMethods: () => testMethods(testParts),
    rootKeys: new KeyRegistry({
      store,
      keyring,
      now,
      wait,
      listRunning: instances.listRunning,
      proveTrail: (isAccepted, operator) => auditTrail.prove(isAccepted, operator),
      countUses: countKeyUses,
    }),
    openIdConnect,
    signingKeys,
    signingThread,
    backups: new Backups(store, auditTrail, now),
    operatorRegistry,
    operators: {
      registry: operatorRegistry,
      access: new OperatorAccess({ store, throttle: throttles.operatorKeys, prefix, now }),
      signIn: new OperatorSignIn({
        store,
        keyring,
        now,
        rp: relyingParty(configuration.operatorUrl ?? appUrl, configuration.productName),
      }),
      store,
    },
    activity,
    identification: new Identification({ store, keyring, lifetimes, prefix, now }),
    appActivity,
    lists: new Lists({ store, keyring, now, stopwatch }),
    idempotency: new Idempotency(store, now),
    pageFailures: new PageFailures(now),
    handOvers: new HandOvers({ store, keyring, prefix, pickUpUrl: appUrl + paths.pickUp, now }),
    audit: store,
    auditTrail,
    secretUses: store,
    throttles,
    /** Counters of the protocol's operations since the process began. */
    tally,
    signIns,
    operator,
    endpoints,
    /** The page where an invited user sets a password; takes the token in its query. */
    newPasswordUrl: appUrl + paths.newPassword,
    close,
  };
}
