/** Who reads the requests that a test sends: the service's own reader where it can, or with `VALETKEY_HTTP_READER=node` Node.js alone. */

/** What a service that a test starts is told of it. */
export const READER = { VALETKEY_HTTP_READER: process.env['VALETKEY_HTTP_READER'] ?? 'own' };
