/** The whole flow over HTTP, as a browser and an app walk it, with every answer checked. */
import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { type Answer, asJson, type Exchange } from '../exchange.ts';
import type { Seeded } from '../seed.ts';
import { CookieJar, call, formOn, headingOf } from './browser.ts';

/** One step: a real call, and whether its answer is the expected one. JSON that came back is given as such. */
export type Step = {
  readonly name: string;
  readonly request: Exchange['request'];
  readonly response: { readonly status: number; readonly headers: Answer['headers']; readonly body: unknown };
  readonly ok: boolean;
  /** What was expected and did not come. */
  readonly missing?: readonly string[];
};

/** Where the walk goes, and as whom. */
export type Route = Seeded & { readonly appUrl: string; readonly apiUrl: string };

/** What an answer must be, each in words and as found. */
type Expectation = readonly [what: string, isMet: boolean];

/** Walks until the end, or until an answer is not the expected one; tells every step as it comes. */
export async function walk(route: Route, tell: (step: Step, number: number) => void): Promise<Step[]> {
  const flow = new Walk(route, tell);
  try {
    const code = await flow.authorize();
    const first = await flow.exchange(code);
    await flow.check('The app asks whose token it is', first.accessToken);
    const second = await flow.refresh(first.refreshToken);
    await flow.check('The new access token works', second.accessToken);
    await flow.takeBack();
    await flow.refused(second);
    await flow.signOut();
  } catch (error) {
    if (!(error instanceof Unexpected)) throw error;
  }
  return flow.steps;
}

class Unexpected extends Error {
  override readonly name = 'Unexpected';
}

type Pair = { readonly accessToken: string; readonly refreshToken: string };

class Walk {
  readonly steps: Step[] = [];
  readonly #route: Route;
  readonly #tell: (step: Step, number: number) => void;
  readonly #jar = new CookieJar();
  #page = '';

  constructor(route: Route, tell: (step: Step, number: number) => void) {
    this.#route = route;
    this.#tell = tell;
  }

  /** From the app's request to the code that the browser brings back. */
  async authorize(): Promise<string> {
    const { clientId, redirectUri, email, password, appName } = this.#route;
    const state = randomBytes(16).toString('base64url');
    const query = new URLSearchParams({ client_id: clientId, state, redirect_uri: redirectUri });
    const path = `/auth/oauth2/authorize?${query}`;
    await this.#visit('The app sends the browser to Valetkey, which asks to sign in', path, (answer) => [
      ['status 200', answer.status === 200],
      ['the heading "Sign in"', headingOf(answer.body) === 'Sign in'],
    ]);
    await this.#submit('The person signs in', '/sign-in', { email, password }, (answer) => [
      ['status 303', answer.status === 303],
      [`location ${path}`, answer.headers['location'] === path],
    ]);
    await this.#visit('Back at the request, Valetkey asks whether the app may', path, (answer) => [
      ['status 200', answer.status === 200],
      [`a heading that asks about ${appName}`, headingOf(answer.body).startsWith(`Allow ${appName} `)],
    ]);
    const allow = { decision: 'allow' };
    const answer = await this.#submit(
      'The person chooses Allow',
      '/auth/oauth2/authorize',
      allow,
      ({ status, headers }) => {
        const [address, answered] = headers['location']?.split('?') ?? [];
        const parameters = new URLSearchParams(answered);
        return [
          ['status 303', status === 303],
          [`location ${redirectUri}`, address === redirectUri],
          ['exactly code and state added', isDeepStrictEqual([...parameters.keys()].sort(), ['code', 'state'])],
          ['the state unchanged', parameters.get('state') === state],
        ];
      },
    );
    return new URL(answer.headers['location'] ?? '').searchParams.get('code') ?? '';
  }

  /** The code for two tokens. */
  exchange(code: string): Promise<Pair> {
    const { clientId, clientSecret, redirectUri } = this.#route;
    const form = { code, client_id: clientId, client_secret: clientSecret, grant_type: 'authorization_code' };
    return this.#tokens('The app gives the code for two tokens', 'token', {}, { ...form, redirect_uri: redirectUri });
  }

  /** The refresh token for two new ones. */
  refresh(refreshToken: string): Promise<Pair> {
    const headers = { authorization: `Bearer ${refreshToken}` };
    return this.#tokens('The app refreshes: two new tokens', 'refreshToken', headers, this.#refreshForm);
  }

  /** The check of an access token that works. */
  async check(name: string, accessToken: string): Promise<void> {
    const { email, clientId } = this.#route;
    await this.#me(name, accessToken, ({ status, body }) => {
      const me = asJson(body) as { data?: { email: string }; authorization?: { client_id: string } } | undefined;
      return [
        ['status 200', status === 200],
        [`data.email ${email}`, me?.data?.email === email],
        [`authorization.client_id ${clientId}`, me?.authorization?.client_id === clientId],
      ];
    });
  }

  /** The person's page of connected apps, and taking the access back there. */
  async takeBack(): Promise<void> {
    const { appName, clientId } = this.#route;
    await this.#visit('The person looks at the connected apps', '/account/apps', (answer) => [
      ['status 200', answer.status === 200],
      [`${appName} on the page`, answer.body.includes(clientId)],
    ]);
    await this.#submit('The person takes the access back', '/account/apps/revoke', {}, (answer) => [
      ['status 303', answer.status === 303],
    ]);
  }

  /** Neither token is good for anything any more. */
  async refused({ accessToken, refreshToken }: Pair): Promise<void> {
    await this.#me('The access token is refused at once', accessToken, ({ status, headers, body }) => [
      ['status 401', status === 401],
      ['WWW-Authenticate: Bearer', headers['www-authenticate']?.startsWith('Bearer ') === true],
      ['error.code invalid_token', (asJson(body) as { error?: { code: string } })?.error?.code === 'invalid_token'],
    ]);
    const headers = { authorization: `Bearer ${refreshToken}` };
    const request = this.#post('/api/auth/oauth/refreshToken', headers, this.#refreshForm);
    await this.#take('The refresh token is refused too', request, null, ({ status, body }) => [
      ['status 400', status === 400],
      ['error invalid_grant', (asJson(body) as { error?: string })?.error === 'invalid_grant'],
    ]);
  }

  /** The end of the person's session. */
  async signOut(): Promise<void> {
    await this.#visit('The page of connected apps is empty', '/account/apps', (answer) => [
      ['status 200', answer.status === 200],
      ['no app on the page', !answer.body.includes(this.#route.clientId)],
    ]);
    await this.#submit('The person signs out', '/sign-out', {}, (answer) => [['status 303', answer.status === 303]]);
    await this.#visit('Valetkey asks to sign in again', '/account/apps', (answer) => [
      ['status 200', answer.status === 200],
      ['the heading "Sign in"', headingOf(answer.body) === 'Sign in'],
    ]);
  }

  get #refreshForm(): Record<string, string> {
    const { clientId, clientSecret } = this.#route;
    return { grant_type: 'refresh_token', client_id: clientId, client_secret: clientSecret };
  }

  async #visit(name: string, path: string, expect: (answer: Answer) => Expectation[]): Promise<void> {
    const request = { method: 'GET', url: this.#route.appUrl + path, headers: this.#jar.header, body: '' };
    this.#page = (await this.#take(name, request, this.#jar, expect)).body;
  }

  async #submit(
    name: string,
    path: string,
    typed: Record<string, string>,
    expect: (answer: Answer) => Expectation[],
  ): Promise<Answer> {
    const { action, fields } = formOn(this.#page, path);
    return this.#take(name, this.#post(action, this.#jar.header, { ...fields, ...typed }), this.#jar, expect);
  }

  async #tokens(
    name: string,
    endpoint: string,
    headers: Record<string, string>,
    form: Record<string, string>,
  ): Promise<Pair> {
    const request = this.#post(`/api/auth/oauth/${endpoint}`, headers, form);
    const { body } = await this.#take(name, request, null, (answer) => [
      ['status 200', answer.status === 200],
      [
        'exactly access_token and refresh_token',
        isDeepStrictEqual(Object.keys(asJson(answer.body) ?? {}).sort(), ['access_token', 'refresh_token']),
      ],
    ]);
    const { access_token, refresh_token } = asJson(body) as Record<string, string>;
    return { accessToken: access_token ?? '', refreshToken: refresh_token ?? '' };
  }

  async #me(name: string, accessToken: string, expect: (answer: Answer) => Expectation[]): Promise<void> {
    const headers = { authorization: `Bearer ${accessToken}` };
    await this.#take(name, { method: 'GET', url: `${this.#route.apiUrl}/v2/me`, headers, body: '' }, null, expect);
  }

  #post(path: string, headers: Record<string, string>, form: Record<string, string>): Exchange['request'] {
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    const body = String(new URLSearchParams(form));
    return { method: 'POST', url: this.#route.appUrl + path, headers: { ...headers, ...type }, body };
  }

  async #take(
    name: string,
    request: Exchange['request'],
    jar: CookieJar | null,
    expect: (answer: Answer) => Expectation[],
  ): Promise<Answer> {
    const answer = await call(request, jar ?? undefined);
    const missing = expect(answer).flatMap(([what, isMet]) => (isMet ? [] : [what]));
    const response = { ...answer, body: asJson(answer.body) ?? answer.body };
    const ok = missing.length === 0;
    const step: Step = ok ? { name, request, response, ok } : { name, request, response, ok, missing };
    this.steps.push(step);
    this.#tell(step, this.steps.length);
    if (!ok) throw new Unexpected();
    return answer;
  }
}
