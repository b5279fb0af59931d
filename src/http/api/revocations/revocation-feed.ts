/**
 * Writes the stream of revocations: tells each resource server about access that ended, if it could have seen that
 * access.
 */
import type { ResourceServer } from '../../../oauth/resource-servers/resource-server.ts';
import {
  type AccessTo,
  noticeFor,
  type RevocationNotice,
  updatedOwners,
} from '../../../oauth/resource-servers/revocation-notice.ts';
import type { RecordedAuditEvent } from '../../../oauth/trail/audit.ts';
import type { Service } from '../../service/service.ts';
import type { Audience } from './trail-feed.ts';

/** The audience of resource servers. While at most 62 of them have streams, each can always have 16. */
export function resourceServers({
  resourceServers,
  grants,
}: Pick<Service, 'resourceServers'> & {
  readonly grants: Pick<Service['grants'], 'liveAccess'>;
}): Audience {
  return {
    limits: {
      ofOne: 250,
      inAll: 1000,
      always: 16,
      listener: 'a resource server',
      streams: 'streams of revocations',
      sharers: 'processes of the API',
    },
    async prepare(ids) {
      // Read registrations before events: a change that is not visible yet is then among the events, or comes later.
      const find = async (id: string) => [id, await resourceServers.findResourceServer(id)] as const;
      // Null if deleted; missing if its first stream began after this read.
      const found: ReadonlyMap<string, ResourceServer | null> = new Map(await Promise.all(ids.map(find)));
      return async (news) => {
        const access = async (id: string) => [id, await grants.liveAccess(id)] as const;
        const accessTo: AccessTo = new Map(await Promise.all(updatedOwners(news).map(access)));
        const texts = new Map<string, string>();
        return (id) => {
          const resourceServer = found.get(id);
          const text = texts.get(id) ?? asText(news, resourceServer ?? null, accessTo);
          texts.set(id, text);
          const endsStream = resourceServer === null || news.some((event) => endsStreams(event, id));
          return { text, endsStream };
        };
      };
    },
  };
}

/** True if the resource server must authenticate again, since one of its secrets was retired. */
function endsStreams({ action, clientId }: RecordedAuditEvent, resourceServerId: string): boolean {
  return action === 'resource_server_secret_retired' && clientId === resourceServerId;
}

/**
 * Returns the text for one resource server: a comment if there are no notices, so that it cannot see whether others
 * got any.
 */
function asText(
  news: readonly RecordedAuditEvent[],
  resourceServer: ResourceServer | null,
  accessTo: AccessTo,
): string {
  return news.map((event) => asEvent(noticeFor(event, resourceServer, accessTo))).join('') || ':\n\n';
}

function asEvent(notice: RevocationNotice | null): string {
  if (!notice) return '';
  const { grantId, clientId, resourceOwnerId } = notice;
  const data = JSON.stringify({ grant_id: grantId, client_id: clientId, sub: resourceOwnerId });
  return `event: revoked\ndata: ${data}\n\n`;
}
