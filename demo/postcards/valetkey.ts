/** How Postcards talks to Valetkey: through an ordinary OAuth client library that knows nothing of it but its addresses. */
import { get } from 'node:http';
import { finished } from 'node:stream/promises';
import { type AccessToken, AuthorizationCode } from 'simple-oauth2';
import type { Exchange } from '../exchange.ts';
import { tapWire, type WireTap } from './wire-tap.ts';

/** The values that Valetkey's operator gave to the makers of Postcards. */
export type Registration = {
  readonly appUrl: string;
  readonly apiUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly redirectUri: string;
};

/** A call, and the tokens that it brought, if it did. */
export type TokenCall = { readonly exchange: Exchange; readonly token: AccessToken | null };

/** Postcards' end of the connection. No call throws because Valetkey refused it: what came back says so. */
export class Valetkey {
  readonly #registration: Registration;
  readonly #library: AuthorizationCode;

  constructor(registration: Registration) {
    this.#registration = registration;
    this.#library = new AuthorizationCode({
      client: { id: registration.clientId, secret: registration.clientSecret },
      auth: {
        tokenHost: registration.appUrl,
        authorizePath: '/auth/oauth2/authorize',
        tokenPath: '/api/auth/oauth/token',
        refreshPath: '/api/auth/oauth/refreshToken',
      },
      options: { authorizationMethod: 'body' },
    });
  }

  /** Returns the address at which the browser asks the user. */
  authorizationUrl(state: string, codeChallenge: string): string {
    const pkce = { code_challenge: codeChallenge, code_challenge_method: 'S256' };
    return this.#library.authorizeURL({ redirect_uri: this.#registration.redirectUri, state, ...pkce });
  }

  /** Gives the code, and gets two tokens for it. */
  exchangeCode(code: string, codeVerifier: string): Promise<TokenCall> {
    const given = { code, redirect_uri: this.#registration.redirectUri, code_verifier: codeVerifier };
    return callForToken((http) => this.#library.getToken(given, http));
  }

  /** Gives the refresh token, and gets two new tokens for it. */
  refresh(token: AccessToken): Promise<TokenCall> {
    return callForToken((http) => token.refresh({}, http));
  }

  /** Asks whose the access token is: the way to know that it still works. */
  async check(token: AccessToken): Promise<Exchange> {
    const { agent, exchange } = tapWire();
    const headers = { Accept: 'application/json', Authorization: `Bearer ${token.token['access_token']}` };
    await new Promise<void>((resolve) => {
      get(`${this.#registration.apiUrl}/v2/me`, { agent, headers }, (response) =>
        finished(response.resume()).then(resolve, resolve),
      ).on('error', () => resolve());
    });
    return exchange();
  }
}

async function callForToken(call: (http: Pick<WireTap, 'agent'>) => Promise<AccessToken>): Promise<TokenCall> {
  const { agent, exchange } = tapWire();
  const token = await call({ agent }).catch(() => null);
  return { exchange: exchange(), token };
}
