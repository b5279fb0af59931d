/** Identity providers. */
import type { IdentityProvider } from '../../accounts/identity-provider.ts';
import type { IdentityProviderStore } from '../../accounts/store.ts';
import type { AuditEvent } from '../../oauth/audit.ts';
import type { Runner } from '../acts.ts';
import { SECRETS } from './secrets.ts';
import { type Stored, Table } from './table.ts';

/** A provider, as it is stored. */
export const IDENTITY_PROVIDER = Table.of<IdentityProvider>('identity_provider', {
  id: 'text',
  status: 'text',
  name: 'text',
  signInUrl: 'text',
  secrets: SECRETS,
  keys: 'json',
  ownIds: 'boolean',
  rights: 'json',
  forOperators: 'boolean',
  sessionLifetime: 'integer?',
  createdAt: 'time',
});

const CHANGEABLE = IDENTITY_PROVIDER.pick('name', 'signInUrl', 'keys', 'rights', 'forOperators', 'sessionLifetime');

const FIND = `SELECT ${IDENTITY_PROVIDER.names} FROM identity_provider WHERE id = $1`;
const LIST = `SELECT ${IDENTITY_PROVIDER.names} FROM identity_provider ORDER BY created_at, id`;
const REGISTER = `${IDENTITY_PROVIDER.insertion} ON CONFLICT DO NOTHING`;
const UPDATE = `UPDATE identity_provider SET ${CHANGEABLE.assignments(2)} WHERE id = $1`;
const REPLACE_SECRETS = 'UPDATE identity_provider SET secrets = $2 WHERE id = $1 AND secrets = $3';
const SET_STATUS = 'UPDATE identity_provider SET status = $2 WHERE id = $1 AND status <> $2';
const DELETE = `
  DELETE FROM identity_provider
  WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM identity WHERE provider_id = identity_provider.id)`;

/** The port's providers. */
export function identityProviderStore(runner: Runner): IdentityProviderStore {
  const change = (id: string, event: AuditEvent, sql: string, values: readonly Stored[]) =>
    runner.act({ touches: [id], event, first: { sql, values } });
  return {
    async findIdentityProvider(id) {
      const [row] = await runner.select({ sql: FIND, values: [id] }, [id]);
      return row ? IDENTITY_PROVIDER.read(row) : null;
    },
    async listIdentityProviders() {
      return (await runner.select({ sql: LIST, values: [] }, 'all')).map((row) => IDENTITY_PROVIDER.read(row));
    },
    registerIdentityProvider: (provider, event) =>
      change(provider.id, event, REGISTER, IDENTITY_PROVIDER.values(provider)),
    updateIdentityProvider: (provider, event) =>
      change(provider.id, event, UPDATE, [provider.id, ...CHANGEABLE.values(provider)]),
    replaceIdentityProviderSecrets(id, expected, secrets, event) {
      const values = [secrets, expected].map((some) => IDENTITY_PROVIDER.stored('secrets', some));
      return change(id, event, REPLACE_SECRETS, [id, ...values]);
    },
    setIdentityProviderStatus: (id, status, event) => change(id, event, SET_STATUS, [id, status]),
    deleteIdentityProvider: (id, event) => change(id, event, DELETE, [id]),
  };
}
