/**
 * Tickets, which a browser brings back from a provider. A ticket names its sign-in, and has 256 random bits; only their digest
 * is stored.
 */
import { hash, randomBytes } from 'node:crypto';

/** Lifetime of a ticket (ms): a redirect follows it at once. */
export const TICKET_LIFETIME_MS = 60_000;

const NONCE_BYTES = 16;
const SECRET_BYTES = 32;

/** A new ticket for the sign-in request with this nonce: its text, and its stored form. */
export function newTicket(nonce: Buffer): { readonly text: string; readonly digest: Buffer } {
  const secret = randomBytes(SECRET_BYTES);
  return { text: Buffer.concat([nonce, secret]).toString('base64url'), digest: hash('sha256', secret, 'buffer') };
}

/** Time of the provider's statement behind a ticket (ms). */
export function statedAt({ ticketExpiresAt }: { readonly ticketExpiresAt: number }): number {
  return ticketExpiresAt - TICKET_LIFETIME_MS;
}

/** Reads the text of a ticket; null if it cannot be one. */
export function readTicket(text: string): { readonly nonce: Buffer; readonly digest: Buffer } | null {
  if (!/^[A-Za-z0-9_-]{64}$/.test(text)) return null;
  const bytes = Buffer.from(text, 'base64url');
  return { nonce: bytes.subarray(0, NONCE_BYTES), digest: hash('sha256', bytes.subarray(NONCE_BYTES), 'buffer') };
}
