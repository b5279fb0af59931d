/**
 * Distinguishes a window's navigation from requests by scripts, frames and service workers, which could act for the
 * user.
 */
import type { FastifyRequest } from 'fastify';

/**
 * True if nobody sees the answer: a browser prefetches a page, or preloads it for a service worker, or a program
 * sends HEAD (RFC 9110 §9.3.2). If refused, a browser asks again when the user goes there.
 */
export function isLoadedAhead({ headers, method }: FastifyRequest): boolean {
  if (method === 'HEAD') return true;
  if (headers['service-worker-navigation-preload'] !== undefined) return true;
  return String(headers['sec-purpose'] ?? headers['purpose']).startsWith('prefetch');
}

/**
 * True if a request is the navigation of a whole window, or if the browser does not say (W3C Fetch Metadata). Only
 * then does the user see the answer, and no script of the same host can read it. A service worker changes `document`
 * to `empty`, or reads the preloaded answer.
 */
export function isNavigation({ headers }: FastifyRequest): boolean {
  if (headers['service-worker-navigation-preload'] !== undefined) return false;
  const { 'sec-fetch-mode': mode = 'navigate', 'sec-fetch-dest': destination } = headers;
  // Browsers send both or neither. A mode alone comes from fetch() of Node.js, which always says `cors`.
  return destination === undefined || (destination === 'document' && mode === 'navigate');
}
