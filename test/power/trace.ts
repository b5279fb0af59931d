/** Reads what the recording disk of `bench/disk` wrote down. */

/** One call that reached the disk, or began or ended to sync. Its `position` is where the recording ends with it, in bytes. */
export type TraceRecord = {
  readonly kind: keyof typeof KINDS;
  readonly position: number;
  readonly process: number;
  /** The inode; 0 where only a name is meant. */
  readonly file: bigint;
  /** Where it was written, the size after a truncation, the number of a sync, or whether an opened file was made. */
  readonly value: number;
  /** In the watched folder; empty for that folder. */
  readonly name: string;
  /** What was written. */
  readonly data: Buffer;
};

const KINDS = { open: 'o', link: 'l', unlink: 'u', write: 'w', truncate: 't', syncBegins: 's', synced: 'e' } as const;
const KIND_OF = new Map(Object.entries(KINDS).map(([kind, letter]) => [letter, kind as TraceRecord['kind']]));
const HEAD_BYTES = 32;

/** The records in their order. Throws where a file was written in a way that is not recorded. */
export function* readTrace(trace: Buffer): Generator<TraceRecord> {
  for (let start = 0; start < trace.length; ) {
    const head = trace.subarray(start, start + HEAD_BYTES);
    const nameStart = start + HEAD_BYTES;
    const dataStart = nameStart + head.readUInt32LE(4);
    const position = dataStart + head.readUInt32LE(8);
    const name = trace.toString('utf8', nameStart, dataStart);
    const kind = KIND_OF.get(String.fromCharCode(head.readUInt32LE(0)) as never);
    if (!kind) throw new Error(`a watched file was changed in a way that is not recorded: ${name}`);
    yield {
      kind,
      position,
      process: head.readUInt32LE(12),
      file: head.readBigUInt64LE(16),
      value: Number(head.readBigUInt64LE(24)),
      name,
      data: trace.subarray(dataStart, position),
    };
    start = position;
  }
}
