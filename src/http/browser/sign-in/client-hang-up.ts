/** Ends work when its client hangs up. */
import type { FastifyRequest } from 'fastify';

/**
 * Runs work with a signal that aborts when the client hangs up. Half-closing counts, since many clients hang up this
 * way; a half-closed client that still reads gets the answer of the aborted work.
 */
export async function untilHangUp<T>({ raw }: FastifyRequest, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { socket } = raw;
  const controller = new AbortController();
  const abort = () => controller.abort();
  socket.once('end', abort).once('close', abort);
  if (socket.readableEnded || socket.destroyed) abort();
  try {
    return await work(controller.signal);
  } finally {
    socket.off('end', abort).off('close', abort);
  }
}
