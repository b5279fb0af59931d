/** Records requests with where the recording of the disk was when they were sent, and when they were answered. */
import type { Entry } from '../instances/history.ts';
import { Recorder } from '../instances/recorder.ts';
import type { TestClient } from '../support/flow.ts';
import type { TestResourceServer } from '../support/standard.ts';

/**
 * Positions in a recording. Nothing of a request was on the disk before `from`; and if it was answered, all that the
 * answer tells was on the disk at `until`, or the answer was a lie.
 */
export type Span = { readonly from: number; readonly until: number };

/** A recorder that keeps the span of each entry. */
export class PositionedRecorder extends Recorder {
  readonly spans = new Map<Entry, Span>();

  /** `position` answers how long the recording is by now (bytes); `before` is known from before it began. */
  constructor(client: TestClient, api: TestResourceServer, position: () => number, before: readonly Entry[] = []) {
    super(client, api);
    for (const entry of before) this.spans.set(entry, { from: 0, until: 0 });
    const record: Record = super.record.bind(this);
    const positioned: Record = async (at, act, ask) => {
      const from = position();
      const entry = await record(at, act, ask);
      this.spans.set(entry, { from, until: position() });
      return entry;
    };
    this.record = positioned as Recorder['record'];
  }

  /** What clients knew when the power failed at a position: what was not answered by then may have had its effect. */
  until(position: number): Entry[] {
    return [...this.spans]
      .filter(([, { from }]) => from <= position)
      .map(([entry, { until }]) => (until <= position ? entry : unanswered(entry)));
  }
}

/** The same whatever the kind of what is recorded. */
type Record = (...asked: Parameters<Recorder['record']>) => Promise<Entry>;

/** The same request without what came back. */
function unanswered(entry: Entry): Entry {
  const lost = { ...entry, outcome: 'lost', detail: 'the power failed' } as const;
  if (lost.kind === 'allow') return { ...lost, code: null };
  return lost.kind === 'exchange' || lost.kind === 'refresh' ? { ...lost, pair: null } : lost;
}
