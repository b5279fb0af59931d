/** Grants for devices (RFC 8628). */
import type { Grant } from './grant.ts';

/** The grant type of a device's token request (RFC 8628 §3.4); a grant for a device has it in place of a redirect URI. */
export const DEVICE_GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:device_code';

/** True if a grant was made for a device, or a device waits for it. */
export function isForDevice({ redirectUri }: Pick<Grant, 'redirectUri'>): boolean {
  return redirectUri === DEVICE_GRANT_TYPE;
}
