/** Introspects a token at the authorization server (RFC 7662), and accepts only a complete answer. */

/** The answer for an active token; names as on the wire, `expiresAt` in ms since the epoch. */
export type ActiveToken = {
  readonly sub: string;
  readonly username: string | null;
  readonly external_id: string | null;
  readonly client_id: string;
  readonly grant_id: string;
  readonly scopes: readonly string[];
  readonly expiresAt: number;
};

/**
 * Reason why a token's state is unknown: `problem` is for the API's operator and holds no secret, `retryAfter` is in
 * seconds.
 */
export class Unknown {
  readonly problem: string;
  readonly retryAfter: number;

  constructor(problem: string, retryAfter = 1) {
    this.problem = problem;
    this.retryAfter = retryAfter;
  }
}

/** Problem of an API that the authorization server does not know. */
export const WRONG_CREDENTIALS = 'the id or the secret of this resource server is wrong, so no token can be checked';

/** The parts of introspection. `timeout` is in ms, `now` returns ms since the epoch. */
export type IntrospectionSettings = {
  readonly issuer: string;
  readonly authorization: string;
  readonly resource: string | undefined;
  readonly acceptUnbound: boolean;
  readonly timeout: number;
  readonly fetch: typeof globalThis.fetch;
  readonly now: () => number;
};

/** Introspects a token; null if it does not work here. Never throws: any failure is `Unknown`. */
export async function introspect(
  settings: IntrospectionSettings,
  token: string,
): Promise<ActiveToken | null | Unknown> {
  const { fetch, issuer, authorization, timeout } = settings;
  try {
    const response = await fetch(`${issuer}/oauth2/introspect`, {
      method: 'POST',
      headers: {
        Authorization: authorization,
        Accept: 'application/json',
        'Content-Type': 'application/x-www-form-urlencoded',
      },
      body: new URLSearchParams({ token, token_type_hint: 'access_token' }).toString(),
      redirect: 'error',
      signal: AbortSignal.timeout(timeout),
    });
    if (response.status === 200) return readAnswer(settings, await response.json());
    await response.body?.cancel();
    if (response.status === 401) return new Unknown(WRONG_CREDENTIALS);
    const [seconds] = /^\d{1,4}$/.exec(response.headers.get('retry-after') ?? '') ?? ['1'];
    return new Unknown(`introspection answers HTTP ${response.status}`, Number(seconds));
  } catch (error) {
    const { name, cause } = error as { name: string; cause?: { code?: string } };
    return new Unknown(`introspection fails: ${cause?.code ?? name}`);
  }
}

/** Basic credentials; both parts are form-encoded before they are joined (RFC 6749 §2.3.1). */
export function basicAuthorization(id: string, secret: string): string {
  return `Basic ${Buffer.from(`${formEncoded(id)}:${formEncoded(secret)}`).toString('base64')}`;
}

function formEncoded(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1);
}

/** RFC 7662 §2.2, with the members that Valetkey always sends. */
function readAnswer(settings: IntrospectionSettings, answer: unknown): ActiveToken | null | Unknown {
  const { issuer, now } = settings;
  const { active, sub, client_id, grant_id, exp, aud, cnf, ...rest } = { ...(answer as Record<string, unknown>) };
  const { scope = '', username = null, external_id = null, token_type = 'Bearer', iss = issuer } = rest;
  const expiresAt = Number(exp) * 1000;
  const audience = aud === undefined ? undefined : [aud].flat();
  if (active === false) return null;
  if (active !== true) return odd('active is neither true nor false');
  if (!isText(sub) || !isText(client_id) || !isText(grant_id)) return odd('sub, client_id or grant_id is no text');
  if (username !== null && typeof username !== 'string') return odd('username is no text');
  if (external_id !== null && !isText(external_id)) return odd('external_id is no text');
  if (typeof scope !== 'string') return odd('scope is no text');
  if (!/^bearer$/i.test(String(token_type)) || cnf !== undefined) return odd('the token is no bearer token');
  if (typeof exp !== 'number' || Number.isNaN(new Date(expiresAt).getTime())) return odd('exp is no time');
  if (expiresAt <= now()) return odd('exp is in the past: is the clock of this machine right?');
  if (iss !== issuer) return odd('iss is another issuer: compare the option issuer with VALETKEY_APP_URL');
  if (audience && !audience.every(isText)) return odd('aud is no text');
  // No fault: the token is good, but for another API.
  if (!isForThisApi(settings, audience)) return null;
  const scopes = Object.freeze(scope.split(' ').filter((name) => name !== ''));
  return { sub, username, external_id, client_id, grant_id, scopes, expiresAt };
}

/** RFC 8707 §3. A token without an audience could be used at every API (RFC 9700 §2.3). */
function isForThisApi({ resource, acceptUnbound }: IntrospectionSettings, audience: unknown[] | undefined): boolean {
  if (resource === undefined) return true;
  return audience ? audience.includes(resource) : acceptUnbound;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function odd(what: string): Unknown {
  return new Unknown(`introspection answers what it never should: ${what}`);
}
