/** The acts of the API, each with a call that is done if it may be: by the contract, not by the program's own table. */
import type { Role } from '../../../../src/operator/access/operator.ts';
import type { Act, Right } from '../../../../src/operator/access/rights.ts';
import type { ApiRequest } from '../../../support/operator-api.ts';

/** Ids that calls are about. */
export type Samples = {
  readonly clientId: string;
  readonly userId: string;
  readonly grantId: string;
  readonly serverId: string;
  readonly providerId: string;
  readonly scope: string;
  readonly token: string;
  /** A paused app with two secrets, and a disabled user. */
  readonly pausedClientId: string;
  readonly disabledUserId: string;
  /** An id that nothing has yet. */
  readonly newId: string;
};

/** An act: the lowest role, the right of a key, a path below `/v1` with its request, and the status of a call that is done. */
export type ActRow = {
  readonly act: Act;
  readonly role: Role;
  readonly right: Right;
  /** Further rights that the call needs. */
  readonly also?: readonly Right[];
  readonly path: (samples: Samples) => string;
  readonly request?: (samples: Samples) => ApiRequest;
  readonly done?: number;
};

const reads = (act: Act, right: Right, path: ActRow['path']): ActRow => ({ act, role: 'read', right, path });

/** Acts that read: every role may. */
export const READING: readonly ActRow[] = [
  reads('clients.list', 'clients.read', () => '/clients'),
  reads('clients.show', 'clients.read', ({ clientId }) => `/clients/${clientId}`),
  reads('clients.tallies', 'clients.read', ({ clientId }) => `/clients/${clientId}/tallies`),
  reads('clients.failures', 'clients.read', ({ clientId }) => `/clients/${clientId}/failures`),
  reads('resource-servers.list', 'resource-servers.read', () => '/resource-servers'),
  reads('resource-servers.show', 'resource-servers.read', ({ serverId }) => `/resource-servers/${serverId}`),
  reads('identity-providers.list', 'identity-providers.read', () => '/identity-providers'),
  reads('identity-providers.show', 'identity-providers.read', ({ providerId }) => `/identity-providers/${providerId}`),
  reads('scopes.list', 'scopes.read', () => '/scopes'),
  reads('scopes.show', 'scopes.read', ({ scope }) => `/scopes/${scope}`),
  reads('users.list', 'users.read', () => '/users'),
  reads('users.show', 'users.read', ({ userId }) => `/users/${userId}`),
  reads('grants.list', 'grants.read', () => '/grants'),
  reads('grants.show', 'grants.read', ({ grantId }) => `/grants/${grantId}`),
  reads('audit-events.list', 'audit.read', () => '/audit-events'),
  reads('audit-events.show', 'audit.read', () => '/audit-events/1'),
  reads('status.show', 'status.read', () => '/status'),
  {
    ...reads('identify', 'identify', () => '/identify'),
    request: ({ token }) => ({ json: { credential: token } }),
  },
];

type Changing = Pick<ActRow, 'also' | 'done' | 'request'> & {
  readonly role?: Role;
  readonly method?: string;
  readonly json?: object;
};

const changes = (
  act: Act,
  right: Right,
  path: ActRow['path'],
  { role = 'admin', method = 'POST', json = {}, ...more }: Changing = {},
): ActRow => ({ act, role, right, path, request: () => ({ method, json }), ...more });

/** A scope with a sentence of the app's own. */
const OWN = { name: 'mail.read', sentence: 'Read your mail' };
const APP = { name: 'Acme', redirect_uris: ['https://acme.test/callback'] };
const aClient =
  (more = '') =>
  (samples: Samples) =>
    `/clients/${samples.clientId}${more}`;
const aServer =
  (more = '') =>
  (samples: Samples) =>
    `/resource-servers/${samples.serverId}${more}`;
const aProvider =
  (more = '') =>
  (samples: Samples) =>
    `/identity-providers/${samples.providerId}${more}`;
const aUser =
  (more = '') =>
  (samples: Samples) =>
    `/users/${samples.userId}${more}`;
const support = { role: 'support' } as const;

/** Acts that change, each on samples of its own, with a paused app or a disabled user for acts that need one. */
export const CHANGING: readonly ActRow[] = [
  changes('clients.register', 'clients.write', () => '/clients', { json: { ...APP, type: 'public' }, done: 201 }),
  changes('clients.update', 'clients.write', aClient(), { method: 'PATCH', json: { name: 'New' } }),
  changes('clients.pause', 'clients.write', aClient('/pause'), support),
  changes('clients.resume', 'clients.write', ({ pausedClientId }) => `/clients/${pausedClientId}/resume`, support),
  changes('clients.revoke-grants', 'grants.end', aClient('/revoke-grants')),
  changes('clients.delete', 'clients.write', aClient(), { method: 'DELETE', also: ['grants.end'] }),
  changes('clients.make-secret', 'clients.secrets', aClient('/secrets'), { done: 201 }),
  changes(
    'clients.retire-secret',
    'clients.secrets',
    ({ pausedClientId }) => `/clients/${pausedClientId}/secrets/older`,
    {
      method: 'DELETE',
    },
  ),
  changes('clients.hand-over', 'clients.secrets', aClient('/hand-over'), { done: 201 }),
  changes('resource-servers.register', 'resource-servers.write', () => '/resource-servers', {
    ...{ json: { name: 'API' }, also: ['resource-servers.secrets'], done: 201 },
  }),
  changes('resource-servers.update', 'resource-servers.write', aServer(), { method: 'PATCH', json: { name: 'New' } }),
  changes('resource-servers.delete', 'resource-servers.write', aServer(), { method: 'DELETE' }),
  changes('resource-servers.make-secret', 'resource-servers.secrets', aServer('/secrets'), { done: 201 }),
  changes('resource-servers.retire-secret', 'resource-servers.secrets', aServer('/secrets/newer'), {
    ...{ method: 'DELETE', done: 409 },
  }),
  changes('resource-servers.hand-over', 'resource-servers.secrets', aServer('/hand-over'), { done: 201 }),
  changes('identity-providers.register', 'identity-providers.trust', () => '/identity-providers', {
    ...{ also: ['identity-providers.secrets'], done: 201 },
    request: ({ newId }) => ({ json: { provider_id: newId, name: 'New', sign_in_url: 'https://new.test/sign-in' } }),
  }),
  changes('identity-providers.update', 'identity-providers.write', aProvider(), {
    ...{ method: 'PATCH', json: { name: 'New' } },
  }),
  changes('identity-providers.pause', 'identity-providers.write', aProvider('/pause')),
  changes('identity-providers.resume', 'identity-providers.write', aProvider('/resume'), { done: 409 }),
  changes('identity-providers.test', 'identity-providers.write', aProvider('/test')),
  changes('identity-providers.end-all', 'grants.end', aProvider('/end-all'), {
    json: { since: '2020-01-01T00:00:00Z' },
  }),
  changes('identity-providers.delete', 'identity-providers.write', aProvider(), { method: 'DELETE' }),
  changes('identity-providers.make-secret', 'identity-providers.secrets', aProvider('/secrets'), { done: 201 }),
  changes('identity-providers.retire-secret', 'identity-providers.secrets', aProvider('/secrets/older'), {
    ...{ method: 'DELETE', done: 409 },
  }),
  changes('identity-providers.hand-over', 'identity-providers.secrets', aProvider('/hand-over'), { done: 201 }),
  changes('scopes.define', 'scopes.write', ({ scope }) => `/scopes/${scope}`, {
    ...{ method: 'PUT', json: { sentences: { en: 'Read' } }, also: ['scopes.trust'] },
  }),
  changes('scopes.delete', 'scopes.write', ({ scope }) => `/scopes/${scope}`, {
    ...{ method: 'DELETE', also: ['scopes.trust'] },
  }),
  changes('users.update', 'users.write', aUser(), { method: 'PATCH', json: { name: 'New' } }),
  changes('users.invite', 'users.invite', aUser('/invite'), { done: 201 }),
  changes('users.disable', 'users.write', aUser('/disable'), support),
  changes('users.enable', 'users.write', ({ disabledUserId }) => `/users/${disabledUserId}/enable`, support),
  changes('users.end-sessions', 'users.write', aUser('/end-sessions'), support),
  changes('users.revoke-grants', 'grants.end', aUser('/revoke-grants'), support),
  changes('users.delete', 'users.write', aUser(), { method: 'DELETE', also: ['grants.end'] }),
  changes('grants.revoke', 'grants.end', ({ grantId }) => `/grants/${grantId}/revoke`, support),
];

/** Acts that a body makes of a call: a key that may do the call needs their right, too. */
export const FURTHER: readonly ActRow[] = [
  changes('clients.make-secret', 'clients.secrets', () => '/clients', {
    ...{ json: APP, also: ['clients.write'], done: 201 },
  }),
  changes('clients.hand-over', 'clients.secrets', () => '/clients', {
    ...{ json: { ...APP, hand_over: true }, also: ['clients.write'], done: 201 },
  }),
  changes('clients.vouch', 'clients.trust', aClient(), {
    ...{ method: 'PATCH', json: { publisher: 'Acme', is_checked: true }, also: ['clients.write'] },
  }),
  changes('clients.set-consent', 'clients.trust', aClient(), {
    ...{ method: 'PATCH', json: { consent: 'skip' }, also: ['clients.write'] },
  }),
  changes('clients.set-sign-in', 'clients.trust', aClient(), {
    ...{ method: 'PATCH', json: { sign_in: true, consent: 'ask' }, also: ['clients.write'] },
  }),
  changes('scopes.set-sentences', 'scopes.trust', () => '/clients', {
    ...{ json: { ...APP, type: 'public', scopes: [OWN] }, also: ['clients.write'], done: 201 },
  }),
  changes('scopes.set-sentences', 'scopes.trust', aClient(), {
    ...{ method: 'PATCH', json: { scopes: [OWN] }, also: ['clients.write'] },
  }),
  changes('scopes.set-sentences', 'scopes.trust', ({ scope }) => `/scopes/${scope}`, {
    ...{ method: 'PUT', json: { sentences: { en: 'Read' }, effect: 'reads' }, also: ['scopes.write'] },
  }),
  changes('scopes.set-sentences', 'scopes.trust', ({ scope }) => `/scopes/${scope}`, {
    ...{ method: 'DELETE', also: ['scopes.write'] },
  }),
  changes('clients.set-keys', 'clients.secrets', aClient(), {
    ...{ method: 'PATCH', json: { keys: [] }, also: ['clients.write'] },
  }),
  changes('resource-servers.make-secret', 'resource-servers.secrets', () => '/resource-servers', {
    ...{ json: { name: 'API' }, also: ['resource-servers.write'], done: 201 },
  }),
  changes('resource-servers.hand-over', 'resource-servers.secrets', () => '/resource-servers', {
    ...{ json: { name: 'API', hand_over: true }, also: ['resource-servers.write'], done: 201 },
  }),
  changes('identity-providers.make-secret', 'identity-providers.secrets', () => '/identity-providers', {
    ...{ also: ['identity-providers.trust'], done: 201 },
    request: ({ newId }) => ({ json: { provider_id: newId, name: 'New', sign_in_url: 'https://new.test/sign-in' } }),
  }),
  changes('identity-providers.trust', 'identity-providers.trust', aProvider(), {
    ...{ method: 'PATCH', json: { sign_in_url: 'https://other.test/sign-in' }, also: ['identity-providers.write'] },
  }),
  changes('identity-providers.trust', 'identity-providers.trust', aProvider(), {
    ...{ method: 'PATCH', json: { home_page: 'https://other.test' }, also: ['identity-providers.write'] },
  }),
  changes('clients.revoke-grants', 'grants.end', aClient(), { method: 'DELETE', also: ['clients.write'] }),
  changes('users.revoke-grants', 'grants.end', aUser(), { method: 'DELETE', also: ['users.write'] }),
  changes('users.invite', 'users.invite', aUser(), {
    ...{ method: 'PATCH', json: { email: 'changed@example.com' }, also: ['users.write'] },
  }),
  changes('users.invite', 'users.invite', () => '/users', {
    ...{ done: 201 },
    request: ({ newId }) => ({ json: { email: `${newId}@example.com`, name: 'New' } }),
  }),
];
