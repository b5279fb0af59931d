/** Requests of apps, people and APIs over HTTP, each recorded with its answer. */
import { setTimeout as after } from 'node:timers/promises';
import { OperatorError } from '../../src/oauth/error.ts';
import type { RevocationNotice } from '../../src/oauth/resource-servers/revocation-notice.ts';
import { StoreUnavailable } from '../../src/oauth/store.ts';
import { type Browser, formOf, type Visit } from '../support/browser.ts';
import { asJson, type JsonAnswer, postForm, type TestClient } from '../support/flow.ts';
import { RevocationStream } from '../support/revocation-stream.ts';
import { REDIRECT_URI } from '../support/service.ts';
import { basic, type TestResourceServer } from '../support/standard.ts';
import type { Act, Entry, Heard, Outcome, Pair } from './history.ts';

/** An instance by its addresses. */
export type Instance = { readonly name: string; readonly appUrl: string; readonly apiUrl: string };

/** Somebody who is signed in. */
export type Person = { readonly accountId: string; readonly email: string; readonly browser: Browser };

/** How it went, in what words, and what was handed out or told. */
type Answer = {
  readonly outcome: Outcome;
  readonly detail: string;
  readonly code?: string | null;
  readonly pair?: Pair;
  readonly heard?: readonly Heard[];
  readonly ended?: number;
};

const DONE: Answer = { outcome: 'done', detail: '' };
const LISTEN_AGAIN_MS = 50;
/** Who hears nothing for so long has lost the stream. */
const SILENCE_MS = 1000;

/** Asks in the names of one app and of one API, and keeps what was answered. */
export class Recorder {
  readonly entries: Entry[] = [];
  readonly client: TestClient;
  readonly api: TestResourceServer;
  #visits = 0;

  constructor(client: TestClient, api: TestResourceServer) {
    this.client = client;
    this.api = api;
  }

  /** Presses Allow: looks at the page of one instance, and posts its form to another. */
  async allow(person: Person, at: Instance, postTo: Instance = at): Promise<Entry<'look' | 'allow'>> {
    const { clientId } = this.client;
    const parameters = new URLSearchParams({ client_id: clientId, redirect_uri: REDIRECT_URI, state: 'xyz' });
    const path = `/auth/oauth2/authorize?${parameters}`;
    const look = await this.#look(person, at, path);
    if (!look.page) return look.entry;
    const { page } = look;
    const act = { kind: 'allow', clientId, resourceOwnerId: person.accountId, code: null } as const;
    return this.record(postTo, act, async () => {
      const shown = { ...page, url: postTo.appUrl + path };
      const visit = await person.browser.submit(shown, '/auth/oauth2/authorize', { decision: 'allow' });
      const code = URL.parse(visit.headers.get('location') ?? '')?.searchParams.get('code') ?? null;
      return { ...visitAnswer(visit, code === null ? 200 : 303), code };
    });
  }

  /** Exchanges a code. */
  exchange(at: Instance, code: string): Promise<Entry<'exchange'>> {
    const fields = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI };
    return this.record(at, { kind: 'exchange', code, pair: null }, () => this.#token(at, fields));
  }

  /** Refreshes. */
  refresh(at: Instance, refreshToken: string): Promise<Entry<'refresh'>> {
    const fields = { grant_type: 'refresh_token', refresh_token: refreshToken };
    return this.record(at, { kind: 'refresh', refreshToken, pair: null }, () => this.#token(at, fields));
  }

  /** Checks an access token at the instance's own API. */
  check(at: Instance, accessToken: string): Promise<Entry<'check'>> {
    const headers = { Authorization: `Bearer ${accessToken}` };
    return this.record(at, { kind: 'check', accessToken }, async () =>
      jsonAnswer(await asJson(await fetch(`${at.apiUrl}/v2/me`, { headers }))),
    );
  }

  /** Asks in the API's name what an access token is good for. */
  introspect(at: Instance, accessToken: string): Promise<Entry<'check'>> {
    return this.record(at, { kind: 'check', accessToken }, async () => {
      const credentials = basic(this.api.id, this.api.secret);
      const asked = await postForm(`${at.appUrl}/oauth2/introspect`, { token: accessToken }, credentials);
      const answer = jsonAnswer(asked);
      return asked.body['active'] === false ? { outcome: 'refused', detail: 'not active' } : answer;
    });
  }

  /** The app ends the grant of a token (RFC 7009). */
  revoke(at: Instance, grantId: string, token: string): Promise<Entry<'revoke'>> {
    return this.record(at, { kind: 'revoke', whose: { grantId } }, async () => {
      const headers = basic(this.client.clientId, this.client.clientSecret);
      const body = new URLSearchParams({ token });
      const response = await fetch(`${at.appUrl}/oauth2/revoke`, { method: 'POST', headers, body });
      return httpAnswer(response, response.status === 200 ? 'done' : 'broken', await response.text());
    });
  }

  /** A person takes everything back from the app, in the pages. */
  async disconnect(person: Person, at: Instance, postTo: Instance = at): Promise<Entry<'look' | 'revoke'>> {
    const { clientId } = this.client;
    const look = await this.#look(person, at, '/account/apps');
    if (!look.page?.body.includes('/account/apps/revoke')) return look.entry;
    // The client alone, which ends every line that it has.
    const form_token = formOf(look.page.body, '/account/apps/revoke').fields['form_token'] ?? '';
    const whose = { clientId, resourceOwnerId: person.accountId };
    return this.record(postTo, { kind: 'revoke', whose }, async () =>
      visitAnswer(
        await person.browser.post(
          `${postTo.appUrl}/account/apps/revoke`,
          { form_token, client_id: clientId },
          { 'Sec-Fetch-Site': 'same-origin' },
        ),
        303,
      ),
    );
  }

  /** An operator acts. */
  act(
    at: { readonly name: string },
    kind: 'revoke' | 'suspend' | 'resume',
    whose: RevocationNotice,
    act: () => Promise<unknown>,
  ): Promise<Entry<'revoke' | 'suspend' | 'resume'>> {
    return this.record(at, { kind, whose }, async () => {
      await act();
      return DONE;
    });
  }

  /** Listens to an instance's revocations, anew whenever the stream ends, until what it answers is called. */
  listen(at: Instance): () => Promise<void> {
    let isStopped = false;
    const ends: (() => Promise<void> | void)[] = [];
    const leave = () => Promise.all(ends.splice(0).map((end) => end()));
    const listenOnce = async () => {
      const stream = await RevocationStream.open({ after: (end) => void ends.push(end) }, at, this.api);
      await this.record(at, { kind: 'listen', heard: [] }, async () => {
        if (isStopped) await leave();
        await stream.ended;
        const revoked = stream.events.filter(({ event }) => event === 'revoked');
        const heard = revoked.map(({ data, at }) => ({ whose: noticeOf(data), at }));
        return { ...DONE, heard, ended: endOf(stream.heard) };
      });
    };
    const listening = (async () => {
      while (!isStopped) await listenOnce().catch(() => after(LISTEN_AGAIN_MS));
    })();
    return async () => {
      isStopped = true;
      await leave();
      await listening;
    };
  }

  /** Records what is asked of an instance, and what comes of it. */
  async record<Kind extends Act['kind']>(
    at: { readonly name: string },
    act: Act & { readonly kind: Kind },
    ask: () => Promise<Answer>,
  ): Promise<Entry<Kind>> {
    const started = performance.now();
    const answer = await ask().catch(failed);
    const entry = { ...act, instance: at.name, started, ended: performance.now(), ...answer } as Entry;
    this.entries.push(entry);
    return entry as Entry<Kind>;
  }

  async #look(person: Person, at: Instance, path: string): Promise<{ entry: Entry<'look'>; page: Visit | null }> {
    let page: Visit | null = null;
    const entry = await this.record(at, { kind: 'look' }, async () => {
      person.browser.headers['X-Forwarded-For'] = this.#newSource();
      const visit = await person.browser.get(at.appUrl + path);
      if (visit.status === 200) page = visit;
      return visitAnswer(visit, 200);
    });
    return { entry, page };
  }

  /** Each visit comes from an address of its own, or it would meet the limit of one. */
  #newSource(): string {
    this.#visits += 1;
    return `10.${this.#visits >> 16}.${(this.#visits >> 8) & 255}.${this.#visits & 255}`;
  }

  async #token(at: Instance, fields: Record<string, string>): Promise<Answer> {
    const { clientId: client_id, clientSecret: client_secret } = this.client;
    const answer = await postForm(`${at.appUrl}/oauth2/token`, { ...fields, client_id, client_secret });
    if (answer.status !== 200) return jsonAnswer(answer);
    const { access_token: accessToken, refresh_token: refreshToken } = answer.body;
    return { ...DONE, pair: { accessToken: String(accessToken), refreshToken: String(refreshToken) } };
  }
}

/** When a stream ended for whoever read it, of the times at which something came. */
function endOf(heard: readonly number[]): number {
  const times = [...heard, performance.now()];
  const last = times.find((at, index) => (times[index + 1] ?? at) - at > SILENCE_MS);
  return last === undefined ? performance.now() : last + SILENCE_MS;
}

function jsonAnswer({ status, headers, body }: JsonAnswer): Answer {
  const error = body['error'];
  const code = typeof error === 'object' ? (error as { code: unknown } | null)?.code : error;
  const refusals = ['400 invalid_grant', '401 invalid_token', '401 invalid_client'];
  const outcome = status === 200 ? 'done' : refusals.includes(`${status} ${code}`) ? 'refused' : 'broken';
  return httpAnswer({ status, headers }, outcome, JSON.stringify(body));
}

function visitAnswer({ status, headers, body }: Visit, expected: number): Answer {
  const title = /<h1[^>]*>(.*?)<\/h1>/s.exec(body)?.[1] ?? '';
  return httpAnswer({ status, headers }, status === expected ? 'done' : 'broken', title);
}

/** A 503 must say when to come again. */
function httpAnswer(
  { status, headers }: Pick<Response, 'status' | 'headers'>,
  otherwise: Outcome,
  text: string,
): Answer {
  const outcome = status === 503 && Number(headers.get('retry-after')) > 0 ? 'unavailable' : otherwise;
  return { outcome, detail: outcome === 'done' ? '' : `${status} ${text}` };
}

function failed(error: unknown): Answer {
  const detail = String((error as Error).cause ?? error);
  if (error instanceof StoreUnavailable) return { outcome: 'unavailable', detail };
  if (error instanceof OperatorError) return { outcome: 'refused', detail };
  const isLost = error instanceof TypeError && /^(fetch failed|terminated)$/.test(error.message);
  return { outcome: isLost ? 'lost' : 'broken', detail: isLost ? detail : String((error as Error).stack) };
}

function noticeOf(data: unknown): RevocationNotice {
  const { grant_id: grantId, client_id: clientId, sub: resourceOwnerId } = data as Record<string, string | undefined>;
  return JSON.parse(JSON.stringify({ grantId, clientId, resourceOwnerId })) as RevocationNotice;
}
