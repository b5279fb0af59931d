/** The parts that all of the domain is wired from. */
import { newSignInTally } from '../accounts/providers/sign-in-tally.ts';
import { makeThrottles } from '../accounts/sign-in/rate-limits.ts';
import { Activity } from '../oauth/activity/activity.ts';
import type { FetchJson } from '../oauth/clients/key-set.ts';
import type { Keyring } from '../oauth/keys/keyring.ts';
import { newProtocolTally } from '../oauth/protocol/protocol-tally.ts';
import type { ProviderTestParts } from '../operator/products-and-apis/provider-test.ts';
import { type Configuration, lifetimesOf } from '../settings/configuration.ts';
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
type OutboundDoor = {
  readonly head: ProviderTestParts['get'];
  readonly fetchJson: FetchJson;
};

/** The parts that several areas of the domain use. */
export type SharedParts = ReturnType<typeof makeSharedParts>;

/** Makes them: each process has one throttle, one tally and one activity for all that count in it. */
export function makeSharedParts(
  configuration: Configuration,
  keyring: Keyring,
  { store, counters, installation }: Storage,
  { now, stopwatch, later, report, outbound, service }: WiringWorld,
) {
  const { restoredAt } = installation;
  const fetchJson: FetchJson = (url, maxBytes) => outbound.fetchJson(url, maxBytes);
  return {
    store,
    keyring,
    counters,
    now,
    stopwatch,
    later,
    report,
    restoredAt,
    prefix: configuration.tokenPrefix,
    lifetimes: lifetimesOf(configuration),
    issuer: configuration.appUrl,
    ownResource: configuration.apiUrl,
    methods: configuration.signInMethods,
    throttles: makeThrottles(counters),
    activity: new Activity({ store, now, later, report }),
    /** Counters of the protocol's operations since the process began. */
    tally: newProtocolTally(),
    signIns: newSignInTally(),
    fetchJson,
    /** The process in audit events that it causes by itself. */
    actor: { kind: 'service', id: service, source: null, requestId: null } as const,
  };
}
