/**
 * Our reader beside the parser of Node.js: what came on a connection is to mean the same, whether Node.js reads all of it or
 * only what our reader gives it.
 */
import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { usualDecoder } from '../../../../src/http/decoding.ts';
import { lots } from '../../../instances/effort.ts';
import { type NodeRequest, readByNode } from './node-parser.ts';
import { OwnReader, type OwnRequest } from './own-reader.ts';
import { drawStream, type Stream } from './streams.ts';

/** How many heads came, of which both read so many alike, our reader gave Node.js so many, and Node.js refused so many connections. */
export type Counts = { heads: number; connections: number; taken: number; given: number; refused: number };

const READ_HEADERS = ['authorization', 'origin', 'content-type', 'content-length', 'x-forwarded-for'] as const;
/** What a request that our reader takes cannot have, as Node.js reads it. */
const NEVER_TAKEN = ['transfer-encoding', 'content-encoding', 'expect', 'upgrade', 'te', 'trailer', 'http2-settings'];

const PAUSE_EVERY = 1000;

/** Compares the two until so many heads have come. Throws with the bytes of a connection on which they differ. */
export async function compareReaders(
  seed: number,
  heads: number,
  report: (counts: Counts) => void = () => {},
): Promise<Counts> {
  const counts: Counts = { heads: 0, connections: 0, taken: 0, given: 0, refused: 0 };
  const [draw, own] = [lots(seed), new OwnReader()];
  try {
    while (counts.heads < heads) {
      const stream = drawStream(draw);
      try {
        compare(stream);
      } catch (error) {
        const pieces = stream.chunks.map((chunk) => JSON.stringify(chunk.toString('latin1')));
        throw new Error(`of ${pieces.join(' + ')}: ${(error as Error).message}`);
      }
      if (counts.connections % PAUSE_EVERY > 0) continue;
      report(counts);
      await nextTurn(); // What answers leave to be done is done.
    }
  } finally {
    own.close();
  }
  return counts;

  function compare({ bytes, chunks, heads }: Stream): void {
    const all = readByNode(bytes);
    const { requests, rest, isOver } = own.read(chunks, draw);
    for (const [index, request] of requests.entries()) assertSame(request, all.requests[index]);
    const others = all.requests.slice(requests.length);
    if (rest) {
      assert.deepEqual(readByNode(rest), { requests: others, error: all.error });
    } else {
      assert.equal(others.filter(({ isWhole }) => isWhole).length, 0, 'Node.js found more requests');
      assert.ok(isOver || all.error === null, 'Node.js refused what came');
    }
    assert.ok(!isOver || all.requests[requests.length - 1]?.isLast, 'only our reader hangs up');
    counts.heads += heads;
    counts.connections += 1;
    counts.taken += requests.length;
    counts.given += rest ? 1 : 0;
    counts.refused += all.error === null ? 0 : 1;
  }
}

function assertSame(own: OwnRequest, other: NodeRequest | undefined): void {
  assert.ok(other?.isWhole, 'Node.js found no such request');
  assert.equal(other.line, own.line);
  for (const name of READ_HEADERS) assert.equal(other.headers.get(name)?.join(' and '), own.headers[name], name);
  assert.equal(other.headers.get('host')?.length, 1, 'host');
  for (const name of NEVER_TAKEN) assert.equal(other.headers.get(name), undefined, name);
  assert.equal(other.headers.get('x-forwarded-proto')?.every((value) => value === 'https') ?? true, true);
  assert.equal(other.isLast, own.headers.isLast, 'whether it is the last');
  assert.equal(bodyOf(own), decoded(other), 'the body');
}

/** What a body says of the one parameter that is in the bodies here; null when it cannot be decoded. */
function bodyOf({ body }: OwnRequest): string | null | undefined {
  return body === null ? null : body?.get('b');
}

function decoded({ headers, body }: NodeRequest): string | null | undefined {
  const decode = usualDecoder(headers.get('content-type')?.[0]);
  if (headers.get('content-length') === undefined) return undefined;
  try {
    return decode?.(body).get('b');
  } catch {
    return null;
  }
}
