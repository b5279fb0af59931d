/**
 * A history: what was asked of any number of instances, and what came back. `violations` decides afterwards whether the
 * promises leave room for it. It knows no HTTP and no database; times are ms of one monotonic clock, that of the test.
 */

import { grantIdText } from '../../src/oauth/grants/grant.ts';
import { readCredential } from '../../src/oauth/keys/credential.ts';
import type { RevocationNotice } from '../../src/oauth/resource-servers/revocation-notice.ts';

/** A token pair as it was answered. */
export type Pair = { readonly accessToken: string; readonly refreshToken: string };

/** What a stream of revocations told, and when. */
export type Heard = { readonly whose: RevocationNotice; readonly at: number };

/** What was asked, with what came back if it was done. An introspection is a check as well. */
export type Act =
  | {
      readonly kind: 'allow';
      readonly clientId: string;
      readonly resourceOwnerId: string;
      readonly code: string | null;
    }
  | { readonly kind: 'exchange'; readonly code: string; readonly pair: Pair | null }
  | { readonly kind: 'refresh'; readonly refreshToken: string; readonly pair: Pair | null }
  | { readonly kind: 'check'; readonly accessToken: string }
  /** Ends for good what was allowed before. */
  | { readonly kind: 'revoke'; readonly whose: RevocationNotice }
  /** A paused client, a disabled account: everything of theirs is refused until `resume`. */
  | { readonly kind: 'suspend'; readonly whose: RevocationNotice }
  | { readonly kind: 'resume'; readonly whose: RevocationNotice }
  /** A stream of revocations, from its readiness until it ended or fell silent. */
  | { readonly kind: 'listen'; readonly heard: readonly Heard[] }
  /** The instance was killed, until it served again. */
  | { readonly kind: 'down' }
  /** Something that has no effect, such as looking at a page. */
  | { readonly kind: 'look' };

/**
 * How it went: as it was asked, refused by the protocol, 503 with `Retry-After`, no answer since the line was lost, or
 * what never may be. What was unavailable or lost may have had its effect all the same.
 */
export type Outcome = 'done' | 'refused' | 'unavailable' | 'lost' | 'broken';

/** A request with its answer; `detail` is for people. */
export type Entry<Kind extends Act['kind'] = Act['kind']> = Extract<Act, { kind: Kind }> & {
  readonly instance: string;
  readonly started: number;
  readonly ended: number;
  readonly outcome: Outcome;
  readonly detail: string;
};

/** A request with a credential of a grant, and that credential's generation. */
type Use = Entry<'exchange' | 'refresh' | 'check'> & { readonly generation: number };

type Span = { readonly from: number; readonly to: number };

/** When nothing of a grant may work, if that is certain, and when it need not. Only a suspension is not for good. */
type Bar = { readonly certain: Span | null; readonly possible: Span; readonly isForGood: boolean };

/** All that was asked about one grant. */
type GrantHistory = {
  readonly id: string;
  readonly allowed: Entry<'allow'> | undefined;
  readonly uses: readonly Use[];
  readonly bars: readonly Bar[];
};

/** An answered revocation is told within 250 ms; the rest is for a machine that has much else to do. */
export const TOLD_WITHIN_MS = 1500;
const PREFIX = 'vk';
const NEVER = Number.POSITIVE_INFINITY;

/** The promises about one grant, each with the requests that contradict it. */
const RULES: Readonly<Record<string, (grant: GrantHistory) => readonly Use[]>> = {
  'a credential comes from an Allow that was answered': ({ allowed, uses }) => (allowed ? [] : uses.slice(0, 1)),

  'a code is redeemed once': ({ uses }) => uses.filter((use) => use.kind === 'exchange' && isDone(use)).slice(1),

  'a generation has one pair, whoever asks, and follows the one before': ({ uses }) => {
    const pairs = new Map<number, string>();
    return uses.filter((use) => {
      const pair = pairOf(use);
      if (!pair) return false;
      const { generation } = read(pair.refreshToken);
      const known = pairs.get(generation) ?? JSON.stringify(pair);
      pairs.set(generation, known);
      return generation !== use.generation + 1 || known !== JSON.stringify(pair);
    });
  },

  'generations only grow': ({ uses }) => {
    const answered = uses.filter(pairOf);
    return answered.filter(({ started, generation }) =>
      answered.some((before) => before.ended < started && before.generation > generation),
    );
  },

  'nothing works after an answered revocation, or while suspended': ({ uses, bars }) =>
    uses.filter(
      (use) =>
        isDone(use) && bars.some(({ certain }) => certain && use.started > certain.from && use.ended < certain.to),
    ),

  'what is dead stays dead': (grant) => {
    const deaths = grant.uses.filter((use) => provesDeath(grant, use)).map(({ ended }) => ended);
    const died = Math.min(NEVER, ...deaths);
    return grant.uses.filter((use) => isDone(use) && use.started > died);
  },

  'what was answered works': (grant) => grant.uses.filter((use) => use.outcome === 'refused' && !isExcused(grant, use)),
};

/** What contradicts the promises, each in a sentence; none when everything may have happened just so. */
export function violations(entries: readonly Entry[]): string[] {
  const ofGrants = grantsOf(entries).flatMap((grant) =>
    Object.entries(RULES).flatMap(([rule, find]) =>
      find(grant).map((use) => `${rule}: ${inWords(use)}, of grant ${grant.id}`),
    ),
  );
  return [...badAnswers(entries), ...ofGrants, ...untold(entries)];
}

/** Answers that no request may get; none at all is for those whose instance was killed. */
function badAnswers(entries: readonly Entry[]): string[] {
  const downs = entries.filter((entry) => entry.kind === 'down');
  const wasDown = ({ instance, started, ended }: Entry) =>
    downs.some((down) => down.instance === instance && down.started <= ended && down.ended >= started);
  return entries
    .filter((entry) => entry.outcome === 'broken' || (entry.outcome === 'lost' && !wasDown(entry)))
    .map((entry) => `every answer is one of those that are promised: ${inWords(entry)}`);
}

/** A stream tells each revocation that is answered while it is open, or ends. */
function untold(entries: readonly Entry[]): string[] {
  const acts = entries.filter((entry) => (entry.kind === 'revoke' || entry.kind === 'suspend') && isDone(entry));
  return entries
    .filter((entry) => entry.kind === 'listen')
    .flatMap((stream) =>
      (acts as Entry<'revoke' | 'suspend'>[])
        .filter(({ started, ended }) => started > stream.started && ended + TOLD_WITHIN_MS < stream.ended)
        .filter(({ ended, whose }) => {
          const isTold = (heard: Heard) => heard.at <= ended + TOLD_WITHIN_MS && includes(heard.whose, whose);
          return !stream.heard.some(isTold);
        })
        .map((act) => `a stream tells each revocation: that of ${stream.instance} did not tell ${inWords(act)}`),
    );
}

/** Whether a refusal shows that the grant has ended for good. */
function provesDeath(grant: GrantHistory, use: Use): boolean {
  if (use.outcome !== 'refused') return false;
  return !grant.bars.some((bar) => !bar.isForGood && overlap(bar.possible, use)) && !mayBeOld(grant, use);
}

/** Whether something that began before the answer, and may have happened, allows a refusal. */
function isExcused(grant: GrantHistory, use: Use): boolean {
  const exchanges = grant.uses.filter(({ kind, started }) => kind === 'exchange' && started < use.ended);
  return exchanges.length > 1 || grant.bars.some(({ possible }) => overlap(possible, use)) || mayBeOld(grant, use);
}

/** Whether it is a refresh token that may be older than the predecessor: so early that is refused, and ends nothing. */
function mayBeOld({ uses }: GrantHistory, { kind, generation, ended }: Use): boolean {
  const isLater = (use: Use) => use.kind === 'refresh' && use.generation > generation && use.started < ended;
  return kind === 'refresh' && uses.some(isLater);
}

function grantsOf(entries: readonly Entry[]): GrantHistory[] {
  const uses = Map.groupBy(entries.flatMap(asUse), ({ grantId }) => grantId);
  const allows = new Map(
    entries.flatMap((entry) => (entry.kind === 'allow' && entry.code ? [[read(entry.code).grantId, entry]] : [])),
  );
  const acts = entries.filter((entry) => entry.kind === 'revoke' || entry.kind === 'suspend');
  const resumes = entries.filter((entry) => entry.kind === 'resume');
  return [...new Set([...uses.keys(), ...allows.keys()])].map((id) => {
    const allowed = allows.get(id);
    const names = { grantId: id, clientId: allowed?.clientId, resourceOwnerId: allowed?.resourceOwnerId };
    const bars = acts
      .filter(({ whose }) => includes(whose, names))
      .map((act) => (act.kind === 'suspend' ? suspension(act, resumes) : revocation(act, allowed)));
    return { id, allowed, uses: (uses.get(id) ?? []).map(({ use }) => use), bars };
  });
}

/** Of many grants, a revocation ends those that were there for certain; one that was just being allowed it may miss. */
function revocation(act: Entry<'revoke'>, allowed: Entry<'allow'> | undefined): Bar {
  const { started, ended, whose } = act;
  const wasThere = whose.grantId !== undefined || (allowed !== undefined && allowed.ended < started);
  const cameLater = wasThere || allowed === undefined || allowed.started < ended || !isDone(act);
  return {
    certain: isDone(act) && wasThere ? { from: ended, to: NEVER } : null,
    possible: { from: cameLater ? started : NEVER, to: NEVER },
    isForGood: true,
  };
}

function suspension(act: Entry<'suspend'>, resumes: readonly Entry<'resume'>[]): Bar {
  const end = resumes.find(({ whose, started }) => started > act.ended && includes(whose, act.whose));
  return {
    certain: isDone(act) ? { from: act.ended, to: end?.started ?? NEVER } : null,
    possible: { from: act.started, to: end && isDone(end) ? end.ended : NEVER },
    isForGood: false,
  };
}

function asUse(entry: Entry): { grantId: string; use: Use }[] {
  const credential =
    entry.kind === 'exchange'
      ? entry.code
      : entry.kind === 'refresh'
        ? entry.refreshToken
        : entry.kind === 'check'
          ? entry.accessToken
          : null;
  if (credential === null) return [];
  const { grantId, generation } = read(credential);
  return [{ grantId, use: { ...(entry as Entry<Use['kind']>), generation } }];
}

/** The id of the grant that a credential names, as text. */
export function grantIdOf(credential: string): string {
  return read(credential).grantId;
}

/** The grant and the generation that a credential names. */
function read(text: string): { grantId: string; generation: number } {
  const kind = text.slice(PREFIX.length + 1, PREFIX.length + 3) as 'ac' | 'at' | 'rt';
  const credential = readCredential(PREFIX, kind, text);
  if (!credential) throw new RangeError(`no credential of this service: ${text}`);
  return { grantId: grantIdText(credential.grantId), generation: credential.generation };
}

function pairOf(use: Use): Pair | null {
  return use.kind === 'check' ? null : use.pair;
}

function isDone({ outcome }: Entry): boolean {
  return outcome === 'done';
}

function overlap(span: Span, { started, ended }: Entry): boolean {
  return span.from < ended && span.to > started;
}

/** Whether a notice is about what another one names, or about more than that. */
function includes(notice: RevocationNotice, other: { [Name in keyof RevocationNotice]: string | undefined }): boolean {
  return (['grantId', 'clientId', 'resourceOwnerId'] as const).every(
    (name) => notice[name] === undefined || notice[name] === other[name],
  );
}

function inWords({ kind, instance, started, ended, outcome, detail }: Entry): string {
  const times = [started, ended].map((ms) => ms.toFixed(1)).join(' to ');
  return `${kind} at ${instance}, ${times} ms: ${outcome}${detail && ` (${detail})`}`;
}
