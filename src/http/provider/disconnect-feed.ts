/** What the stream of disconnects tells identity providers: which apps lost access to their own people, by their subjects. */
import { type DisconnectNotice, disconnectedAccount, disconnectNotices } from '../../accounts/disconnect-notice.ts';
import { sealStreamPlace } from '../../accounts/stream-place.ts';
import type { AuditAction, RecordedAuditEvent } from '../../oauth/audit.ts';
import { dateTime } from '../api/date-time.ts';
import type { Audience } from '../api/trail-feed.ts';
import type { Service } from '../service.ts';

/**
 * Number of readings after which a place is told even if there is nothing else to tell, so that nobody comes back far
 * behind.
 */
const PLACE_EVERY = 16;

/** After these acts a provider must prove anew that it may listen. */
const END_STREAMS: ReadonlySet<AuditAction> = new Set<AuditAction>([
  'identity_provider_updated',
  'identity_provider_secret_retired',
  'identity_provider_paused',
  'identity_provider_deleted',
]);

/** The audience of identity providers. While at most 16 of them have streams, each can always have 16. */
export function providers({ identities, keyring, now }: Pick<Service, 'identities' | 'keyring' | 'now'>): Audience {
  const idAt = (providerId: string, place: number) => `id: ${sealStreamPlace(keyring, providerId, place, now())}\n`;
  let readings = 0;
  return {
    limits: {
      ofOne: 64,
      inAll: 256,
      always: 16,
      listener: 'an identity provider',
      streams: 'streams of disconnects',
      sharers: 'processes of the product',
    },
    async prepare() {
      return async (news) => {
        readings += 1;
        const tellsPlace = readings % PLACE_EVERY === 0;
        const accounts = news.map(disconnectedAccount).filter((id) => id !== null);
        // Read after the events: the identities of an account that one of them deleted are kept for a day.
        const found = await identities.listIdentitiesOf([...new Set(accounts)]);
        const byProvider = new Map<string, { readonly sequence: number; readonly text: string }[]>();
        const noticesOf = (providerId: string) => {
          const notices = news.flatMap((event) => {
            const all = disconnectNotices(event, providerId, found).map(asEvent);
            // The place is told with the last one, so that none of the others is lost between them.
            return all.map((text, index) => ({
              sequence: event.sequence,
              text: (index === all.length - 1 ? idAt(providerId, event.sequence) : '') + text,
            }));
          });
          byProvider.set(providerId, notices);
          return notices;
        };
        return (providerId, after) => {
          const notices = byProvider.get(providerId) ?? noticesOf(providerId);
          const missed = notices.filter(({ sequence }) => sequence > after).map(({ text }) => text);
          const place = tellsPlace ? `${idAt(providerId, Math.max(after, news.at(-1)?.sequence ?? 0))}\n` : ':\n\n';
          return {
            text: missed.join('') || place,
            isOver: news.some((event) => event.sequence > after && endsStreams(event, providerId)),
          };
        };
      };
    },
  };
}

function endsStreams({ action, clientId }: RecordedAuditEvent, providerId: string): boolean {
  return END_STREAMS.has(action) && clientId === providerId;
}

function asEvent({ subject, clientId, reason, at }: DisconnectNotice): string {
  const data = {
    ...(subject === null ? {} : { subject }),
    ...(clientId === null ? {} : { client_id: clientId }),
    reason,
    at: dateTime(at),
  };
  return `event: disconnected\ndata: ${JSON.stringify(data)}\n\n`;
}
