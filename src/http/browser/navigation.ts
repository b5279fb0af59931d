/** Tells the navigation of a window from requests of what could act for the person in it: a script, a frame, a service worker. */
import type { FastifyRequest } from 'fastify';

/**
 * Whether nobody sees the answer: a browser prefetches a page, or preloads it for a service worker, or a program asks by HEAD
 * (RFC 9110 §9.3.2). If that is refused, a browser asks again when the person goes there.
 */
export function isLoadedAhead({ headers, method }: FastifyRequest): boolean {
  if (method === 'HEAD') return true;
  if (headers['service-worker-navigation-preload'] !== undefined) return true;
  return String(headers['sec-purpose'] ?? headers['purpose']).startsWith('prefetch');
}

/**
 * Whether a request is a navigation of a whole window, where the browser says what it is (W3C Fetch Metadata): only then
 * does the person see what comes, and no script of the same host can read it. A service worker makes `document`
 * `empty`, or reads what was loaded ahead of it.
 */
export function isNavigation({ headers }: FastifyRequest): boolean {
  if (headers['service-worker-navigation-preload'] !== undefined) return false;
  const { 'sec-fetch-mode': mode = 'navigate', 'sec-fetch-dest': destination } = headers;
  // Browsers send both or neither. The mode alone comes from fetch() of Node.js, which says `cors` whatever it is told.
  return destination === undefined || (destination === 'document' && mode === 'navigate');
}
