/** Conditions of the verbs of apps, APIs and other registrations. */
import assert from 'node:assert/strict';
import { KEYS_PAUSE_MS } from '../../../../src/oauth/clients/client-keys.ts';
import type { StoredSecret } from '../../../../src/oauth/keys/secret.ts';
import { makeHandOver } from '../../../../src/operator/hand-over/hand-over.ts';
import { event, NOW, sampleResourceServer, sampleSecret } from '../../../support/storage.ts';
import type { AnyStore } from '../any-store.ts';
import type { Its, RestsOn } from './row.ts';

type On = (store: AnyStore, its: Its) => Promise<unknown>;

/** The verbs of one kind of registration. */
type Verbs = {
  readonly find: On;
  /** Gives it another name, from what was registered. */
  readonly rename: (store: AnyStore, its: Its, name: string) => Promise<unknown>;
  readonly remove: On;
  readonly replaceSecrets: (store: AnyStore, its: Its, secrets: readonly StoredSecret[]) => Promise<unknown>;
  /** How it comes to prove itself in another way. */
  readonly otherProof?: Readonly<Record<string, On>>;
};

const secrets = [sampleSecret()];
const KEY = { kty: 'OKP', kid: 'one' };

const server = ({ name }: Its) => sampleResourceServer({ id: `rs_${name}`, resource: `urn:${name}`, secrets });
const clientVerbs: Verbs = {
  find: (store, { client }) => store.findClient(client.id),
  rename: (store, { client }, name) => store.updateClient({ ...client, name }, client, event('client_updated')),
  remove: (store, { client }) => store.deleteClient(client.id, event('client_deleted')),
  replaceSecrets: (store, { client }, next) => store.replaceClientSecrets(client, next, event('client_secret_rotated')),
  otherProof: {
    'it has a key now': (store, { client }) =>
      store.updateClient({ ...client, keys: [KEY] }, client, event('client_updated')),
    'it has a document now': (store, { client }) =>
      store.refreshClient({ ...client, documentSha256: 'ab' }, client, event('client_document_refreshed')),
  },
};
const serverVerbs: Verbs = {
  find: (store, its) => store.findResourceServer(server(its).id),
  rename: (store, its, name) =>
    store.updateResourceServer({ ...server(its), name }, server(its), event('resource_server_updated')),
  remove: (store, its) => store.deleteResourceServer(server(its).id, event('resource_server_deleted')),
  replaceSecrets: (store, its, next) =>
    store.replaceResourceServerSecrets(server(its), next, event('resource_server_secret_rotated')),
};
const providerVerbs: Verbs = {
  find: (store, { provider }) => store.findIdentityProvider(provider.id),
  rename: (store, { provider }, name) =>
    store.updateIdentityProvider({ ...provider, name }, provider, event('identity_provider_updated')),
  remove: (store, { provider }) => store.deleteIdentityProvider(provider.id, event('identity_provider_deleted')),
  replaceSecrets: (store, { provider }, next) =>
    store.replaceIdentityProviderSecrets(provider, next, event('identity_provider_secret_rotated')),
  otherProof: {
    'it proves itself with keys now': (store, { provider }) =>
      store.updateIdentityProvider({ ...provider, keys: [KEY] }, provider, event('identity_provider_updated')),
  },
};

const THERE = 'a registration that is there';

/** The rows that every kind has; `register` makes one that a case does not have yet. */
function rowsOf(
  kind: 'Client' | 'ResourceServer' | 'IdentityProvider',
  { find, rename, remove, replaceSecrets, otherProof = {} }: Verbs,
  register: On = async () => undefined,
): RestsOn[] {
  const isDeleted = { 'it was deleted': remove };
  const row = (verb: RestsOn['verb'], on: string, write: On, gone: RestsOn['gone'] = isDeleted): RestsOn => ({
    ...{ verb, on, gone, out: false, changes: find },
    async decide(store, its) {
      await register(store, its);
      return () => write(store, its);
    },
  });
  return [
    row(`update${kind}`, 'the settings that were read', (store, its) => rename(store, its, 'Two'), {
      'somebody changed them': (store, its) => rename(store, its, 'Three'),
      ...isDeleted,
    }),
    row(`delete${kind}`, THERE, remove),
    row(`replace${kind}Secrets`, 'the proof that was read', (store, its) => replaceSecrets(store, its, []), {
      'somebody replaced them': (store, its) => replaceSecrets(store, its, [sampleSecret()]),
      ...otherProof,
      ...isDeleted,
    }),
  ];
}

const refreshClient = (store: AnyStore, { client }: Its, uri: string) =>
  store.refreshClient({ ...client, redirectUris: [uri] }, client, event('client_document_refreshed'));

/** A client that publishes its keys, and the moment at which they may be asked for again. */
const published = ({ client, name }: Its) => ({
  ...client,
  id: `https://agent.example/${name}`,
  keys: [{ kty: 'OKP', kid: 'old' }],
  jwksUri: `https://agent.example/${name}/keys`,
  jwksFetchedAt: NOW,
  jwksAskedAt: NOW,
});
const LATER = NOW + KEYS_PAUSE_MS;
const findPublished: On = (store, its) => store.findClient(published(its).id);
const askForKeys = (store: AnyStore, its: Its, at = LATER) => store.noteKeysAsked(published(its), at, KEYS_PAUSE_MS);
const refreshKeys = (store: AnyStore, its: Its, kid = 'new') =>
  store.refreshClientKeys(published(its), [{ kty: 'OKP', kid }], LATER, event('client_keys_refreshed'));
const publishedGoes: RestsOn['gone'] = {
  'it was paused': (store, its) => store.setClientStatus(published(its).id, 'paused', event('client_paused')),
  'it was deleted': (store, its) => store.deleteClient(published(its).id, event('client_deleted')),
  'its keys are elsewhere': async (store, its) => {
    await store.deleteClient(published(its).id, event('client_deleted'));
    const elsewhere = { ...published(its), jwksUri: 'https://agent.example/elsewhere' };
    await store.registerClient(elsewhere, event('client_registered'));
    await store.noteKeysAsked(elsewhere, LATER, KEYS_PAUSE_MS);
  },
};

const pauseClient: On = (store, { client }) => store.setClientStatus(client.id, 'paused', event('client_paused'));
const pauseProvider: On = (store, { provider }) =>
  store.setIdentityProviderStatus(provider.id, 'paused', event('identity_provider_paused'));
const scope = ({ name }: Its, sentence = 'One') => ({
  name,
  sentences: { en: sentence },
  effect: null,
  createdAt: NOW,
});
const defineScope = (store: AnyStore, its: Its, sentence: string) =>
  store.defineScope(scope(its, sentence), scope(its), event('scope_defined'));
const deleteScope: On = (store, { name }) => store.deleteScope(name, event('scope_deleted'));
const scopes: On = (store) => store.listScopes();
const scopeIsDeleted = { 'it was deleted': deleteScope };

const handedOver = (its: Its) => ({ kind: 'client', row: { ...its.client, secrets } }) as const;
const findHandOver: On = (store, { client }) => store.findNewestHandOver({ kind: 'client', id: client.id });
const newHandOver = ({ client }: Its) => makeHandOver({ kind: 'client', id: client.id }, 'root', NOW).handOver;
const addHandOver = (store: AnyStore, its: Its, handOver = newHandOver(its)) =>
  store.addHandOver(handOver, handedOver(its), event('hand_over_made'));
const subjectGoes: RestsOn['gone'] = {
  'it was paused': pauseClient,
  'it was deleted': clientVerbs.remove,
  'somebody made a second secret': (store, its) =>
    store.replaceClientSecrets(handedOver(its).row, [sampleSecret(), ...secrets], event('client_secret_rotated')),
  'it has a key now': (store, its) =>
    store.updateClient({ ...its.client, keys: [KEY] }, its.client, event('client_updated')),
  'it is public now': (store, { client }) =>
    store.refreshClient({ ...client, type: 'public' }, client, event('client_document_refreshed')),
};
/** Gives the client of a case one secret. */
const withOneSecret: On = (store, { client }) =>
  store.replaceClientSecrets(client, secrets, event('client_secret_rotated'));

/** The rows. */
export const ofRegistrations: readonly RestsOn[] = [
  ...rowsOf('Client', clientVerbs),
  ...rowsOf('ResourceServer', serverVerbs, (store, its) =>
    store.registerResourceServer(server(its), event('resource_server_registered')),
  ),
  ...rowsOf('IdentityProvider', providerVerbs),
  {
    verb: 'setClientStatus',
    on: 'a client of another status',
    decide: async (store, its) => () => pauseClient(store, its),
    gone: { 'somebody paused it': pauseClient, 'it was deleted': clientVerbs.remove },
    out: false,
    changes: clientVerbs.find,
  },
  {
    verb: 'addHandOver',
    on: 'an active client with the proof that was read',
    async decide(store, its) {
      await withOneSecret(store, its);
      return () => addHandOver(store, its);
    },
    gone: subjectGoes,
    out: false,
    changes: findHandOver,
  },
  {
    verb: 'useHandOver',
    on: 'the newest hand-over, neither used nor expired, of an active client with the proof that was read',
    async decide(store, its) {
      await withOneSecret(store, its);
      const handOver = newHandOver(its);
      await addHandOver(store, its, handOver);
      const use = { secret: sampleSecret(), from: '192.0.2.0/24' };
      return () => store.useHandOver(handOver, handedOver(its), use, event('hand_over_fetched'));
    },
    gone: {
      ...subjectGoes,
      'somebody made a newer one': (store, its) => addHandOver(store, its),
      async 'somebody used it'(store, its) {
        const handOver = await store.findNewestHandOver({ kind: 'client', id: its.client.id });
        assert.ok(handOver);
        const use = { secret: null, from: '192.0.2.0/24' };
        await store.useHandOver(handOver, handedOver(its), use, event('hand_over_fetched'));
      },
      async 'it was paused and resumed'(store, its) {
        await pauseClient(store, its);
        await store.setClientStatus(its.client.id, 'active', event('client_resumed'));
      },
    },
    out: false,
    changes: clientVerbs.find,
  },
  {
    verb: 'refreshClient',
    on: 'what the document was compared with',
    decide: async (store, its) => () => refreshClient(store, its, 'https://two.example/cb'),
    gone: {
      'somebody refreshed it': (store, its) => refreshClient(store, its, 'https://three.example/cb'),
      'it has other keys': (store, { client }) =>
        store.updateClient({ ...client, keys: [{ kty: 'EC', kid: 'other' }] }, client, event('client_updated')),
      'the operator vouches for it': (store, { client }) =>
        store.updateClient({ ...client, publisher: 'One', isChecked: true }, client, event('client_updated')),
      async 'it was paused and resumed'(store, { client }) {
        await store.setClientStatus(client.id, 'paused', event('client_paused'));
        await store.setClientStatus(client.id, 'active', event('client_resumed'));
      },
      'it was deleted': clientVerbs.remove,
    },
    out: false,
    changes: clientVerbs.find,
  },
  {
    verb: 'noteKeysAsked',
    on: 'an active client whose keys nobody asked for lately',
    async decide(store, its) {
      await store.registerClient(published(its), event('client_registered'));
      return () => askForKeys(store, its);
    },
    gone: {
      'somebody asked': askForKeys,
      'somebody asked by a clock that is behind': (store, its) => askForKeys(store, its, LATER + 1),
      ...publishedGoes,
    },
    out: false,
    changes: findPublished,
  },
  {
    verb: 'refreshClientKeys',
    on: 'an active client with the keys that were read, which nobody asked for since',
    async decide(store, its) {
      await store.registerClient(published(its), event('client_registered'));
      await askForKeys(store, its);
      return () => refreshKeys(store, its);
    },
    gone: {
      'somebody asked since': (store, its) => askForKeys(store, its, LATER + KEYS_PAUSE_MS),
      'somebody replaced the keys': (store, its) => refreshKeys(store, its, 'other'),
      ...publishedGoes,
    },
    out: false,
    changes: findPublished,
  },
  {
    verb: 'revokeClientGrants',
    on: THERE,
    decide:
      async (store, { client }) =>
      () =>
        store.revokeClientGrants(client.id, event('client_grants_revoked')),
    gone: { 'it was deleted': clientVerbs.remove },
    out: false,
    changes: clientVerbs.find,
  },
  {
    verb: 'registerIdentityProvider',
    on: 'an id that no provider has',
    async decide(store, { provider, name }) {
      const registered = { ...provider, id: `new-${name}` };
      return () => store.registerIdentityProvider(registered, event('identity_provider_registered'));
    },
    gone: {
      'somebody registered one': (store, { provider, name }) =>
        store.registerIdentityProvider(
          { ...provider, id: `new-${name}`, name: 'Another' },
          event('identity_provider_registered'),
        ),
    },
    out: false,
    changes: (store, { name }) => store.findIdentityProvider(`new-${name}`),
  },
  {
    verb: 'setIdentityProviderStatus',
    on: 'a provider of another status',
    decide: async (store, its) => () => pauseProvider(store, its),
    gone: { 'somebody paused it': pauseProvider, 'it was deleted': providerVerbs.remove },
    out: false,
    changes: providerVerbs.find,
  },
  {
    verb: 'defineScope',
    on: 'the definition that was read',
    async decide(store, its) {
      await store.defineScope(scope(its), null, event('scope_defined'));
      return () => defineScope(store, its, 'Two');
    },
    gone: { 'somebody changed it': (store, its) => defineScope(store, its, 'Three'), ...scopeIsDeleted },
    out: false,
    changes: scopes,
  },
  {
    verb: 'deleteScope',
    on: 'a definition that is there',
    async decide(store, its) {
      await store.defineScope(scope(its), null, event('scope_defined'));
      return async () => deleteScope(store, its);
    },
    gone: scopeIsDeleted,
    out: false,
    changes: scopes,
  },
];
