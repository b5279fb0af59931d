/** The operators' address as a fixture: a service with it, operators, and browsers that sign in there. */

import { auditEvent } from '../../src/oauth/trail/audit.ts';
import { ADDRESS_LIFETIMES, type OneTimeAddress } from '../../src/operator/access/one-time-address.ts';
import { newOperatorId, type Operator, type Role } from '../../src/operator/access/operator.ts';
import { newOperatorToken, operatorTokenDigest } from '../../src/operator/access/operator-session.ts';
import { Browser, type PostedFields, unescaped, type Visit } from './browser.ts';
import { SoftPasskey } from './passkeys.ts';
import { freePort, type Lifetime, startTestService, type TestService } from './service.ts';

/** A service with an operators' address. */
export type TestConsole = TestService & { readonly operatorUrl: string; readonly operatorListen?: string };

/** Starts a service with an operators' address on localhost. */
export async function startConsole(t: Lifetime, variables: Record<string, string> = {}): Promise<TestConsole> {
  const operatorUrl = `http://localhost:${await freePort()}`;
  const service = await startTestService(t, { VALETKEY_OPERATOR_URL: operatorUrl, ...variables });
  const { VALETKEY_OPERATOR_LISTEN: operatorListen } = variables;
  return { ...service, operatorUrl: service.operatorUrl ?? operatorUrl, ...(operatorListen && { operatorListen }) };
}

/** Adds an operator, with an address to enroll at. */
export async function addOperator(
  { installation, operatorUrl, clock }: TestConsole,
  role: Role = 'admin',
  name = `Ann ${role}`,
): Promise<{ operator: Operator; enrollUrl: string }> {
  const createdAt = clock.now();
  const operator: Operator = { id: newOperatorId('opr'), name, role, status: 'active', epoch: 0, createdAt };
  const { token, address } = newAddress(operator, 'enroll', createdAt);
  const event = auditEvent(
    'operator_added',
    installation.operator,
    createdAt,
    { clientId: operator.id },
    { name: operator.name, role: operator.role },
  );
  if (!(await installation.operators.store.addOperator(operator, address, event))) throw new Error('the name is taken');
  return { operator, enrollUrl: `${operatorUrl}/enroll?token=${token}` };
}

/** Makes a one-time address to sign in at. */
export async function addSignInAddress(
  { installation, operatorUrl, clock }: TestConsole,
  operator: Operator,
): Promise<string> {
  const { token, address } = newAddress(operator, 'sign-in', clock.now());
  const about = { clientId: operator.id };
  const event = auditEvent('operator_sign_in_address_made', installation.operator, clock.now(), about, {
    name: operator.name,
  });
  if (!(await installation.operators.store.addOneTimeAddress(address, event))) throw new Error('no active operator');
  return `${operatorUrl}/sign-in?token=${token}`;
}

function newAddress(operator: Operator, purpose: OneTimeAddress['purpose'], createdAt: number) {
  const token = newOperatorToken();
  const expiresAt = createdAt + ADDRESS_LIFETIMES[purpose];
  const address = { digest: operatorTokenDigest(token), operatorId: operator.id, purpose, createdAt, expiresAt };
  return { token, address };
}

/** Posts to an address as its own page would. */
export function postOwn(browser: Browser, url: string, fields: PostedFields = {}): Promise<Visit> {
  return browser.post(url, fields, { 'Sec-Fetch-Site': 'same-origin', Origin: new URL(url).origin });
}

/** A browser that comes to each page from a page of the console, as after a press. */
function consoleBrowser(): Browser {
  return new Browser({ 'Sec-Fetch-Site': 'same-origin' });
}

/** An operator who is signed in with a passkey. */
export type SignedInOperator = {
  readonly operator: Operator;
  readonly browser: Browser;
  readonly passkey: SoftPasskey;
};

/** Adds an operator who enrolls a passkey, and is signed in. */
export async function enrolledOperator(
  service: TestConsole,
  role: Role = 'admin',
  name?: string,
): Promise<SignedInOperator> {
  const { operator, enrollUrl } = await addOperator(service, role, name);
  const [browser, passkey] = [consoleBrowser(), new SoftPasskey(service.operatorUrl)];
  const page = await browser.get(enrollUrl);
  const done = await postOwn(browser, enrollUrl, { answer: passkey.create(page), name: 'laptop' });
  if (done.status !== 303) throw new Error(done.body);
  return { operator, browser, passkey };
}

/** Uses a passkey at a page with a ceremony, such as `/sign-in` or `/confirm`. */
export async function usePasskey(browser: Browser, passkey: SoftPasskey, url: string): Promise<Visit> {
  const page = await browser.get(url);
  return postOwn(browser, url, {
    answer: passkey.get(page),
    continue: new URL(url).searchParams.get('continue') ?? '/',
  });
}

/** The fields that a page keeps between a form and its act. */
export function keptFields({ body }: Visit): Record<string, string[]> {
  const [, form = ''] = /<form method="post" class="stack"(?: data-ceremony[^>]*)?>(.*?)<\/form>/s.exec(body) ?? [];
  const fields: Record<string, string[]> = {};
  for (const [, name = '', value = ''] of form.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g))
    if (name !== 'answer' && name !== 'answerer') fields[name] = [...(fields[name] ?? []), unescaped(value)];
  return fields;
}

/** The fields of a passkey's answer to a page that asked for it. */
export function answerTo(asked: Visit, passkey: SoftPasskey): { answerer: string; answer: string } {
  const [, answerer = ''] = /name="answerer" value="([^"]*)"/.exec(asked.body) ?? [];
  return { answerer, answer: passkey.get(asked) };
}

/** Confirms with a passkey where a form's act asked for it: the form is sent again, with the answer. */
export function confirmInPlace(browser: Browser, passkey: SoftPasskey, asked: Visit): Promise<Visit> {
  return postOwn(browser, asked.url, { ...keptFields(asked), ...answerTo(asked, passkey) });
}
