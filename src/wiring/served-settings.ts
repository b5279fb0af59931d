/** The settings of the running service, for a command in another terminal, which may lack the service's variables. */
import { doctorPass, PASS_HEADER } from '../oauth/keys/doctor-pass.ts';
import type { Keyring } from '../oauth/keys/keyring.ts';
import { ask } from '../process/request-to-configured-address.ts';

/**
 * Asks the service at its public address for its sign-in methods, with proof of the root keys. Returns null if no service with
 * these keys answers. `now` returns ms since the epoch by the installation's clock.
 */
export async function servedMethods(
  appUrl: string,
  keyring: Keyring,
  now: () => number,
): Promise<readonly string[] | null> {
  const headers = { [PASS_HEADER]: doctorPass(keyring, now()) };
  const answer = await ask(`${appUrl}/healthz`, { method: 'GET', headers, maxBytes: 10_000 }, now);
  if (answer.kind === 'failed') return null;
  try {
    return (JSON.parse(answer.body) as { sign_in_methods?: string[] }).sign_in_methods ?? null;
  } catch {
    return null; // Another program answers there.
  }
}
