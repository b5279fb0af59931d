/** The product server's calls to Valetkey, each with the secret of its registration. */
import { asJson, type Exchange } from '../exchange.ts';
import { call } from '../headless/browser.ts';
import type { SeededProduct } from '../seed.ts';

/** The purpose of a call. */
export type Purpose = 'sign_in' | 'connections' | 'disconnect' | 'end_sessions';

/** An app that may act for a person. Times in ISO 8601. */
export type Connection = {
  readonly client_id: string;
  readonly name: string;
  readonly scope: string;
  readonly granted_at: string;
  readonly last_used_at: string | null;
};

/** The signed-in user, or a refusal. */
export type Statement =
  | {
      readonly subject: string;
      readonly name: string;
      readonly email: string;
      readonly email_verified: boolean;
      readonly auth_time: number;
    }
  | { readonly error: 'access_denied' };

/** Hears of every call. */
export type Hear = (purpose: Purpose, exchange: Exchange) => void;

/** The product's end. A call answers null where Valetkey refused it or was not there; what came back says why. */
export class ValetkeyForProduct {
  readonly #appUrl: string;
  readonly #authorization: string;

  constructor({ appUrl, providerId, providerSecret }: SeededProduct & { readonly appUrl: string }) {
    this.#appUrl = appUrl;
    this.#authorization = `Basic ${Buffer.from(`${providerId}:${providerSecret}`).toString('base64')}`;
  }

  /** Says who signs in for a request; returns where the browser goes on. */
  async signIn(signInRequest: string, statement: Statement, hear: Hear): Promise<string | null> {
    const sent = { sign_in_request: signInRequest, ...statement };
    const answer = (await this.#ask('sign_in', 'POST', '/sign-in', sent, hear)) as { redirect_to: string } | null;
    return answer?.redirect_to ?? null;
  }

  /** The apps that may act for a person; none for one whom Valetkey does not know, as before the first sign-in for an app. */
  async connections(subject: string, hear: Hear): Promise<readonly Connection[] | null> {
    const path = `/users/connections?${new URLSearchParams({ subject })}`;
    const asked = await this.#ask('connections', 'GET', path, null, hear);
    const answer = asked as { connections?: Connection[] } | null;
    return answer && (answer.connections ?? []);
  }

  /** Takes everything back from an app; returns whether it is done. */
  async disconnect(subject: string, clientId: string, hear: Hear): Promise<boolean> {
    const sent = { subject, client_id: clientId };
    return (await this.#ask('disconnect', 'POST', '/users/connections/revoke', sent, hear)) !== null;
  }

  /** Signs a person out of Valetkey as well. */
  async endSessions(subject: string, hear: Hear): Promise<void> {
    await this.#ask('end_sessions', 'POST', '/users/end-sessions', { subject }, hear);
  }

  async #ask(purpose: Purpose, method: string, path: string, sent: object | null, hear: Hear): Promise<unknown> {
    const type = sent && { 'content-type': 'application/json' };
    const request = {
      method,
      url: `${this.#appUrl}/api/auth/oauth${path}`,
      headers: { authorization: this.#authorization, ...type },
      body: sent ? JSON.stringify(sent) : '',
    };
    const response = await call(request).catch(() => null);
    hear(purpose, { request, response });
    if (response === null || (response.status >= 300 && response.status !== 404)) return null;
    return asJson(response.body) ?? {};
  }
}
