/** The two functions that a product needs to sign in its users for Valetkey. */
import type { Asked, Session } from './people.ts';
import type { Hear, Statement, ValetkeyForProduct } from './valetkey.ts';

/** A visit of the sign-in address. */
export type SignInVisit = {
  readonly valetkey: ValetkeyForProduct;
  readonly session: Session;
  /** The pressed button, if any: `yes` goes on as the signed-in user, `no` refuses. */
  readonly answer: string | null;
  readonly hear: Hear;
};

/** The result: the user must sign in or choose, the browser goes on, or Valetkey refused. */
export type SignInOutcome =
  | { readonly kind: 'ask'; readonly goOnAs: string | null }
  | { readonly kind: 'gone_on'; readonly redirectTo: string }
  | { readonly kind: 'refused' };

/** Reads what Valetkey asks, for the session to keep. */
export function takeSignInRequest(query: URLSearchParams): Asked {
  const prompt = (query.get('prompt') ?? '').split(' ');
  const maxAge = query.get('max_age');
  return {
    signInRequest: query.get('sign_in_request') ?? '',
    appName: query.get('client_name') ?? 'An app',
    mustSignInAnew: prompt.includes('login'),
    mustChoose: prompt.includes('select_account'),
    maxAge: maxAge === null ? Number.POSITIVE_INFINITY : Number(maxAge) * 1000,
    since: Date.now(),
  };
}

/** Tells Valetkey who is signed in, or first has somebody sign in or choose. */
export async function signInForValetkey({ valetkey, session, answer, hear }: SignInVisit): Promise<SignInOutcome> {
  const { asked, person, signedInAt } = session;
  if (!asked) return { kind: 'refused' };
  const isIn = signedInAt >= asked.since - (asked.mustSignInAnew ? 0 : asked.maxAge);
  const isSure = !asked.mustChoose || signedInAt >= asked.since || answer === 'yes';
  let statement: Statement = { error: 'access_denied' };
  if (answer !== 'no') {
    if (!person || !isIn) return { kind: 'ask', goOnAs: null };
    if (!isSure) return { kind: 'ask', goOnAs: person.name };
    statement = { ...person, email_verified: true, auth_time: Math.floor(signedInAt / 1000) };
  }
  const redirectTo = await valetkey.signIn(asked.signInRequest, statement, hear);
  session.asked = null;
  return redirectTo === null ? { kind: 'refused' } : { kind: 'gone_on', redirectTo };
}
