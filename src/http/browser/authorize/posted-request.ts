/** Authorization requests that another site posts (OpenID Connect Core §3.1.2.1). */
import type { FastifyRequest } from 'fastify';
import { isClientId } from '../../../oauth/clients/client.ts';
import { asksToSignIn } from '../../../oauth/openid/openid-scope.ts';
import { formOf } from '../../request/form.ts';
import { STANDARD_PATHS } from '../../service/paths.ts';
import type { Service } from '../../service/service.ts';

/** Maximum length of an address with a request: it must fit into the head of a request, beside cookies. */
const MAX_ADDRESS = 8192;

/**
 * Returns the address of the same request as `GET`; null unless a form holds a request with `openid` of an app that has sign-in,
 * and no decision. Reads no cookie: the browser sends none with another site's post.
 */
export async function addressOfPosted(
  { clients }: Pick<Service, 'clients'>,
  request: FastifyRequest,
): Promise<string | null> {
  const form = formOf(request);
  const clientId = form.get('client_id');
  if (clientId === undefined || !isClientId(clientId) || form.has('decision')) return null;
  const client = await clients.findClient(clientId);
  if (!client || !asksToSignIn(client, form.get('scope'))) return null;
  // A value that is no text stays a value, which the request's own rules refuse.
  const valuesOf = (name: string) => (form.all(name).length > 0 ? form.all(name) : ['']);
  const pairs = form.names().flatMap((name) => valuesOf(name).map((value) => [name, value]));
  const address = `${STANDARD_PATHS.authorize}?${new URLSearchParams(pairs)}`;
  return address.length > MAX_ADDRESS ? null : address;
}
