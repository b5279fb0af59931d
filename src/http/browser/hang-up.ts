/** Who no longer waits for an answer. */
import type { FastifyRequest } from 'fastify';

/**
 * Does work that waits, with a signal that is aborted when the client hangs up. Whoever hangs up often says only that
 * nothing more will be sent: that counts too, and who still reads then gets the answer of the work that gave up.
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
