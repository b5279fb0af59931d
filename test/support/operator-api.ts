/** The operators' API as a fixture: a service with their address, operators with keys, and calls that must be as described. */
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import type { CommandContext } from '../../src/cli/command/context.ts';
import { runProgram } from '../../src/cli/program.ts';
import { withChecksum } from '../../src/oauth/keys/credential.ts';
import { auditEvent } from '../../src/oauth/trail/audit.ts';
import { newOperatorId, type Operator, type Role } from '../../src/operator/access/operator.ts';
import { newOperatorToken, operatorTokenDigest } from '../../src/operator/access/operator-session.ts';
import { RIGHTS, type Right } from '../../src/operator/access/rights.ts';
import { Collector } from '../cli/collector.ts';
import { DescribedService } from './described.ts';
import { freePort, type Lifetime, startTestService, type TestService } from './service.ts';

/** A service with an operators' address. */
export type TestApi = TestService & { readonly operatorUrl: string };

/** Starts a service with an operators' address on localhost. */
export async function startApi(t: Lifetime, variables: Record<string, string> = {}): Promise<TestApi> {
  const operatorUrl = `http://localhost:${await freePort()}`;
  const service = await startTestService(t, { VALETKEY_OPERATOR_URL: operatorUrl, ...variables });
  return { ...service, operatorUrl: service.operatorUrl ?? operatorUrl };
}

/** An operator with a key. */
export type KeyHolder = { readonly operator: Operator; readonly keyId: string; readonly key: string };

/** Adds an operator with a key; all rights by default. */
export async function addKey(
  { installation, clock }: TestApi,
  role: Role = 'admin',
  rights: readonly Right[] = RIGHTS,
): Promise<KeyHolder> {
  const { store } = installation.operators;
  const [id, createdAt] = [newOperatorId('opr'), clock.now()];
  const operator: Operator = { id, name: `Ann ${id}`, role, status: 'active', epoch: 0, createdAt };
  const { name } = operator;
  const about = { clientId: id };
  const added = auditEvent('operator_added', installation.operator, createdAt, about, { name, role });
  assert.ok(await store.addOperator(operator, null, added));
  const text = withChecksum(`vk_ok_${newOperatorToken()}`);
  const key = {
    id: newOperatorId('opk'),
    operatorId: id,
    name: 'test',
    digest: operatorTokenDigest(text),
    rights,
    createdAt,
  };
  const detail = { name, key: key.id, key_name: key.name, rights };
  const keyAdded = auditEvent('operator_key_added', installation.operator, createdAt, about, detail);
  assert.ok(await store.addOperatorKey({ ...key, expiresAt: createdAt + 3_600_000 }, keyAdded));
  return { operator, keyId: key.id, key: text };
}

/** An answer of the API. */
export type ApiAnswer = { readonly status: number; readonly headers: Headers; readonly body: Record<string, unknown> };

/** A request: a path below the address, and what is not a GET without a body. */
export type ApiRequest = {
  readonly method?: string;
  readonly json?: object;
  readonly headers?: Readonly<Record<string, string>>;
};

/** Calls the API with a key (null: without). */
export async function call(
  { operatorUrl }: TestApi,
  key: string | null,
  path: string,
  { method, json, headers = {} }: ApiRequest = {},
): Promise<ApiAnswer> {
  const response = await fetch(operatorUrl + path, {
    method: method ?? (json ? 'POST' : 'GET'),
    redirect: 'manual',
    headers: {
      ...(key === null ? {} : { Authorization: `Bearer ${key}` }),
      ...(json ? { 'Content-Type': 'application/json' } : {}),
      ...headers,
    },
    ...(json ? { body: JSON.stringify(json) } : {}),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? {} : JSON.parse(text) };
}

/** The API's own description, against which answers are held. */
export function describedApi({ operatorUrl }: TestApi): Promise<DescribedService> {
  return DescribedService.of({ appUrl: operatorUrl });
}

/** Runs a command on the service's own installation, and returns what it prints for programs. */
export async function commandJson({ installation, clock }: TestApi, ...words: string[]): Promise<unknown> {
  const [stdout, stderr] = [new Collector(), new Collector()];
  const context = {
    ...{ stdin: Readable.from([]), stdout, stderr, now: clock.now },
    caller: { programName: 'valetkey', npmConfig: null },
    open: async () => ({ ...installation, close: async () => {} }),
  } as unknown as CommandContext;
  assert.equal(await runProgram([...words, '--json'], context), 0, stderr.text);
  return JSON.parse(stdout.text);
}
