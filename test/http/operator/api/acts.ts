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
};

/** An act: the lowest role, the right of a key, a path below `/v1` with its request, and the status of a call that is done. */
export type ActRow = {
  readonly act: Act;
  readonly role: Role;
  readonly right: Right;
  readonly path: (samples: Samples) => string;
  readonly request?: (samples: Samples) => ApiRequest;
  readonly done?: number;
};

const reads = (act: Act, right: Right, path: ActRow['path']): ActRow => ({ act, role: 'read', right, path });

/** What reads: everybody may. */
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
