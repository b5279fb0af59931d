/** Takes steps over HTTP, as browsers and servers do, and checks every answer. */
import { type Answer, asJson, type Exchange, type SentRequest } from '../exchange.ts';
import { CookieJar, call, formOn } from './browser.ts';

/** One step: a real call, and whether its answer is the expected one. JSON that came back is given as such. */
export type Step = {
  readonly name: string;
  readonly request: SentRequest;
  readonly response: { readonly status: number; readonly headers: Answer['headers']; readonly body: unknown };
  readonly ok: boolean;
  /** Expected things that were missing. */
  readonly missing?: readonly string[];
};

/** The requirements of an answer, each in words and as found. */
export type Expectation = readonly [what: string, isMet: boolean];

/** Says what an answer must be. */
export type Expect = (answer: Answer) => readonly Expectation[];

/** Hears of a step as it is taken. */
export type Tell = (step: Step, number: number) => void;

/** An answer was not the expected one. */
class Unexpected extends Error {
  override readonly name = 'Unexpected';
}

/** Takes all steps of a walk, or those before an answer that is not the expected one, which is the last of them. */
export async function takeSteps(tell: Tell, walk: (walker: Walker) => Promise<void>): Promise<Step[]> {
  const walker = new Walker(tell);
  await walk(walker).catch((error: unknown) => {
    if (!(error instanceof Unexpected)) throw error;
  });
  return walker.steps;
}

/** Takes the steps of one person's browser, and of the servers beside it. */
export class Walker {
  readonly steps: Step[] = [];
  readonly #tell: Tell;
  readonly #jars = new Map<string, CookieJar>();
  #page = { url: '', body: '' };

  constructor(tell: Tell) {
    this.#tell = tell;
  }

  /** The browser goes to an address. */
  async visit(name: string, url: string, expect: Expect): Promise<Answer> {
    const jar = this.#jarOf(url);
    const answer = await this.#take(name, { method: 'GET', url, headers: jar.header, body: '' }, jar, expect);
    this.#page = { url, body: answer.body };
    return answer;
  }

  /** The browser posts the form of its page that has this path as its action. */
  submit(name: string, path: string, typed: Readonly<Record<string, string>>, expect: Expect): Promise<Answer> {
    const { action, fields } = formOn(this.#page.body, path);
    const url = new URL(action, this.#page.url).href;
    const jar = this.#jarOf(url);
    const request = formPost(url, { ...jar.header, origin: new URL(url).origin }, { ...fields, ...typed });
    return this.#take(name, request, jar, expect);
  }

  /** A server makes a call. */
  call(name: string, request: SentRequest, expect: Expect): Promise<Answer> {
    return this.#take(name, request, undefined, expect);
  }

  /** Notes a call that a server makes by itself, while the browser waits for it. */
  note(name: string, { request, response }: Exchange, expect: Expect): void {
    this.#add(name, request, response ?? { status: 0, headers: {}, body: '' }, expect);
  }

  async #take(name: string, request: SentRequest, jar: CookieJar | undefined, expect: Expect): Promise<Answer> {
    const answer = await call(request, jar);
    if (this.steps.every(({ ok }) => ok)) this.#add(name, request, answer, expect);
    if (this.steps.some(({ ok }) => !ok)) throw new Unexpected();
    return answer;
  }

  #add(name: string, request: SentRequest, answer: Answer, expect: Expect): void {
    const missing = expect(answer).flatMap(([what, isMet]) => (isMet ? [] : [what]));
    const response = { ...answer, body: asJson(answer.body) ?? answer.body };
    const ok = missing.length === 0;
    const step: Step = ok ? { name, request, response, ok } : { name, request, response, ok, missing };
    this.steps.push(step);
    this.#tell(step, this.steps.length);
  }

  /** Each host has its own cookies; browsers do not tell ports apart, but none of the hosts here reads those of another. */
  #jarOf(url: string): CookieJar {
    const { origin } = new URL(url);
    const jar = this.#jars.get(origin) ?? new CookieJar();
    this.#jars.set(origin, jar);
    return jar;
  }
}

/** A form as it is posted. */
export function formPost(url: string, headers: SentRequest['headers'], form: Record<string, string>): SentRequest {
  const type = { 'content-type': 'application/x-www-form-urlencoded' };
  return { method: 'POST', url, headers: { ...headers, ...type }, body: String(new URLSearchParams(form)) };
}
