/** One HTTP call: what was sent, and what came back; null where nothing did. */
export type Exchange = { readonly request: SentRequest; readonly response: Answer | null };

/** A sent request. Header names are in lower case; a missing body is an empty text. */
export type SentRequest = {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

/** An answer. */
export type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

/** The text as JSON; undefined when it is something else. */
export function asJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
