/** What resource servers are told when access ends, so that none of them goes on trusting an answer it has kept. */
import type { AuditAction, AuditEvent } from './audit.ts';

/** Whose access ended: a grant's, a client's, a resource owner's, a resource owner's at a client; all when it names nothing. */
export type RevocationNotice = {
  readonly grantId?: string;
  readonly clientId?: string;
  readonly resourceOwnerId?: string;
};

type Subject = 'grant' | 'client' | 'resource owner' | 'everything';

/** The acts after which an access token that was good may be good no longer, or no longer for the same. */
const SUBJECTS: Partial<Record<AuditAction, Subject>> = {
  code_replay: 'grant',
  refresh_reuse: 'grant',
  client_updated: 'client',
  client_paused: 'client',
  client_grants_revoked: 'client',
  client_deleted: 'client',
  user_disabled: 'resource owner',
  user_grants_revoked: 'resource owner',
  user_deleted: 'resource owner',
  all_grants_revoked: 'everything',
  resource_server_updated: 'everything',
  resource_server_secret_retired: 'everything',
  resource_server_deleted: 'everything',
};

/** The notice that an event of the audit trail calls for, or null. */
export function revocationNotice({ action, grantId, clientId, resourceOwnerId }: AuditEvent): RevocationNotice | null {
  // Revoked one by one it names its grant; from the connected-apps page, all of one person's for one client.
  const subject = action === 'grant_revoked' ? (grantId === null ? 'grants of both' : 'grant') : SUBJECTS[action];
  switch (subject) {
    case 'grant':
      return grantId === null ? {} : { grantId };
    case 'grants of both':
      return clientId === null || resourceOwnerId === null ? {} : { clientId, resourceOwnerId };
    case 'client':
      return clientId === null ? {} : { clientId };
    case 'resource owner':
      return resourceOwnerId === null ? {} : { resourceOwnerId };
    case 'everything':
      return {};
    default:
      return null;
  }
}
