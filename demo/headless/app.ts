/** The app's part of a walk: sends the browser to Valetkey, and uses the returned code. */
import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { asJson } from '../exchange.ts';
import type { Seeded } from '../seed.ts';
import { headingOf } from './browser.ts';
import { type Expect, formPost, type Walker } from './walker.ts';

/** The addresses of a walk, and its user and app. */
export type Route = Seeded & { readonly appUrl: string; readonly apiUrl: string };

/** The two tokens. */
export type Pair = { readonly accessToken: string; readonly refreshToken: string };

/** The app, in one person's walk. */
export class App {
  readonly #walker: Walker;
  readonly #route: Route;
  readonly #state = randomBytes(16).toString('base64url');
  /** The address that the app sends the browser to, without Valetkey's host. */
  readonly authorizationPath: string;

  constructor(walker: Walker, route: Route) {
    this.#walker = walker;
    this.#route = route;
    const { clientId, redirectUri } = route;
    const query = new URLSearchParams({ client_id: clientId, state: this.#state, redirect_uri: redirectUri });
    this.authorizationPath = `/auth/oauth2/authorize?${query}`;
  }

  /** The person is asked, and allows; returns the code that the browser brings back. */
  async consent(): Promise<string> {
    const { appUrl, appName, redirectUri } = this.#route;
    const url = appUrl + this.authorizationPath;
    await this.#walker.visit('Back at the request, Valetkey asks whether the app may', url, (answer) => [
      ['status 200', answer.status === 200],
      [`a heading that asks about ${appName}`, headingOf(answer.body).startsWith(`Allow ${appName} `)],
    ]);
    const allow = { decision: 'allow' };
    const back = await this.#walker.submit('The person chooses Allow', '/auth/oauth2/authorize', allow, (answer) => {
      const [address, answered] = answer.headers['location']?.split('?') ?? [];
      const parameters = new URLSearchParams(answered);
      return [
        ['status 303', answer.status === 303],
        [`location ${redirectUri}`, address === redirectUri],
        ['exactly code and state added', isDeepStrictEqual([...parameters.keys()].sort(), ['code', 'state'])],
        ['the state unchanged', parameters.get('state') === this.#state],
      ];
    });
    return new URL(back.headers['location'] ?? '').searchParams.get('code') ?? '';
  }

  /** The code for two tokens. */
  exchange(code: string): Promise<Pair> {
    const { clientId, clientSecret, redirectUri } = this.#route;
    const form = { code, client_id: clientId, client_secret: clientSecret, grant_type: 'authorization_code' };
    return this.#tokens('The app gives the code for two tokens', 'token', {}, { ...form, redirect_uri: redirectUri });
  }

  /** The refresh token for two new ones. */
  refresh({ refreshToken }: Pair): Promise<Pair> {
    const headers = { authorization: `Bearer ${refreshToken}` };
    return this.#tokens('The app refreshes: two new tokens', 'refreshToken', headers, this.#refreshForm);
  }

  /** The check of an access token that works. */
  async check(name: string, { accessToken }: Pair): Promise<void> {
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

  /** Neither token is good for anything any more. */
  async refused({ accessToken, refreshToken }: Pair): Promise<void> {
    await this.#me('The access token is refused at once', accessToken, ({ status, headers, body }) => [
      ['status 401', status === 401],
      ['WWW-Authenticate: Bearer', headers['www-authenticate']?.startsWith('Bearer ') === true],
      ['error.code invalid_token', (asJson(body) as { error?: { code: string } })?.error?.code === 'invalid_token'],
    ]);
    const headers = { authorization: `Bearer ${refreshToken}` };
    const request = formPost(`${this.#route.appUrl}/api/auth/oauth/refreshToken`, headers, this.#refreshForm);
    await this.#walker.call('The refresh token is refused too', request, ({ status, body }) => [
      ['status 400', status === 400],
      ['error invalid_grant', (asJson(body) as { error?: string })?.error === 'invalid_grant'],
    ]);
  }

  get #refreshForm(): Record<string, string> {
    const { clientId, clientSecret } = this.#route;
    return { grant_type: 'refresh_token', client_id: clientId, client_secret: clientSecret };
  }

  async #tokens(
    name: string,
    endpoint: string,
    headers: Record<string, string>,
    form: Record<string, string>,
  ): Promise<Pair> {
    const request = formPost(`${this.#route.appUrl}/api/auth/oauth/${endpoint}`, headers, form);
    const { body } = await this.#walker.call(name, request, (answer) => [
      ['status 200', answer.status === 200],
      [
        'exactly access_token and refresh_token',
        isDeepStrictEqual(Object.keys(asJson(answer.body) ?? {}).sort(), ['access_token', 'refresh_token']),
      ],
    ]);
    const { access_token, refresh_token } = asJson(body) as Record<string, string>;
    return { accessToken: access_token ?? '', refreshToken: refresh_token ?? '' };
  }

  async #me(name: string, accessToken: string, expect: Expect): Promise<void> {
    const headers = { authorization: `Bearer ${accessToken}` };
    await this.#walker.call(name, { method: 'GET', url: `${this.#route.apiUrl}/v2/me`, headers, body: '' }, expect);
  }
}
