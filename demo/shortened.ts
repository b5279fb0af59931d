/** Shortens a call for display: removes its secrets, except for a few characters that tell one from another. */
import { asJson, type Exchange } from './exchange.ts';

const SECRET_PARAMETERS = new Set([
  'client_secret',
  'code',
  'code_challenge',
  'code_verifier',
  'refresh_token',
  'state',
]);
const SECRET_MEMBERS = new Set(['access_token', 'refresh_token', 'sign_in_request']);

/** The two ends of a secret. Of Valetkey's credentials these are the kind and the checksum. */
export function shortened(secret: string): string {
  return secret.length > 24 ? `${secret.slice(0, 6)}…${secret.slice(-6)}` : '…';
}

/** The call with every secret shortened, and its bodies laid out to be read. */
export function withoutSecrets({ request, response }: Exchange): Exchange {
  const isJson = request.headers['content-type'] === 'application/json';
  const body = isJson ? shownJson(request.body) : shownParameters(new URLSearchParams(request.body));
  return {
    request: { ...request, headers: shownHeaders(request.headers), body },
    response: response && { ...response, body: shownJson(response.body) },
  };
}

/** The parameters of a URL or a form, one on each line. */
export function shownParameters(parameters: URLSearchParams): string {
  const lines = [...parameters].map(([name, value]) => [name, SECRET_PARAMETERS.has(name) ? shortened(value) : value]);
  return lines.map((line) => line.join('=')).join('\n');
}

function shownHeaders(headers: Exchange['request']['headers']): Exchange['request']['headers'] {
  const [scheme, credential] = headers['authorization']?.split(' ') ?? [];
  return credential === undefined ? headers : { ...headers, authorization: `${scheme} ${shortened(credential)}` };
}

function shownJson(body: string): string {
  const json = asJson(body);
  if (json === undefined) return body;
  return JSON.stringify(json, shownMember, 2);
}

function shownMember(name: string, value: unknown): unknown {
  if (SECRET_MEMBERS.has(name)) return shortened(String(value));
  // An address with a ticket, which is as good as a password for a minute.
  if (name === 'redirect_to') return String(value).replace(/(?<=[?&]ticket=)[^&]+/, shortened);
  return value;
}
