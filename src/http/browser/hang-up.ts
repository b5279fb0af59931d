/** Ends work when its client hangs up. */
import type { FastifyRequest } from 'fastify';

/**
 * Does work with a signal that is aborted when the client hangs up. Many clients hang up by half-closing, so that
 * counts too; a half-closed client that still reads gets the answer of the aborted work.
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
