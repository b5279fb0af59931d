/** Rules on what a finder of a credential can do with it. */
import type { Client } from '../../oauth/clients/client.ts';
import type { Grant } from '../../oauth/grants/grant.ts';
import { takesSecret } from '../hand-over/hand-over.ts';
import type { FinderNeed, Identified } from './identified-credential.ts';

/** Returns the things that a finder of an app's code or token needs besides it; none if it works for anybody at once. */
export function finderNeeds(kind: Identified['kind'], client: Client, grant: Grant | null): readonly FinderNeed[] {
  switch (kind) {
    case 'refresh token':
      return authenticationOf(client); // RFC 6749 §6
    case 'authorization code': // RFC 6749 §4.1.3, and with a challenge RFC 7636 §4.6
      return [...authenticationOf(client), ...(grant?.codeChallenge ? (['verifier'] as const) : [])];
    case 'device code': // RFC 8628 §3.4
      return [...authenticationOf(client), ...(grant ? [] : (['allow'] as const))];
    default:
      return [];
  }
}

/** A public client has no credentials (RFC 6749 §2.1). */
function authenticationOf(client: Client): readonly FinderNeed[] {
  if (client.type === 'public') return [];
  return [takesSecret({ kind: 'client', row: client }) ? 'secret' : 'private key'];
}
