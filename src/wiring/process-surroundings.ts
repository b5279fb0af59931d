/** The surroundings of the domain: this process, its machine, and the network. */
import type { Keyring } from '../oauth/keys/keyring.ts';
import type { Log } from '../process/log.ts';
import { instanceName, userName } from '../process/process-names.ts';
import { later, stopwatch, wait } from '../process/timers.ts';
import { type Configuration, outboundRules } from '../settings/configuration.ts';
import type { WiringWorld } from './shared-parts.ts';

/**
 * Returns the clock, the timers and the names of this process for the wiring of the domain. A command gives its keys, with
 * which it asks the running service.
 */
export function wiringWorld(
  configuration: Configuration,
  now: () => number,
  logger: Log,
  commandKeys: Keyring | null,
): WiringWorld {
  // Imported at the first request: node:http takes a fifth of a command's start time.
  const load = async () => new (await import('../process/outbound.ts')).Outbound(outboundRules(configuration), { now });
  const outbound: WiringWorld['outbound'] = {
    head: async (url) => (await load()).head(url),
    fetchJson: async (url, maxBytes) => (await load()).fetchJson(url, maxBytes),
  };
  const report = (sentence: string) => logger.warn(sentence);
  const askMethods: WiringWorld['askMethods'] =
    commandKeys && (async (appUrl) => (await import('./served-settings.ts')).servedMethods(appUrl, commandKeys, now));
  return { now, stopwatch, later, wait, operator: userName(), service: instanceName(), report, outbound, askMethods };
}
