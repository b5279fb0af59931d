/** Secrets are found by their digests: the newer and the older one, of apps, APIs and products, while they are live. */
import assert from 'node:assert/strict';
import { event, sampleClient, sampleProvider, sampleResourceServer, sampleSecret } from '../../support/storage.ts';
import type { WithStore } from './any-store.ts';

/** Searches by secrets. */
export function foundSecrets(withStore: WithStore): void {
  withStore('a live secret finds its app, API or product, and a retired one finds nothing', async (store) => {
    const [newer, older] = [sampleSecret(), sampleSecret()];
    const secrets = [newer, older];
    const client = sampleClient({ id: 'app_found', secrets });
    const server = sampleResourceServer({ id: 'rs_found', secrets });
    const provider = sampleProvider({ id: 'found', secrets });
    await store.registerClient(client, event('client_registered'));
    await store.registerResourceServer(server, event('resource_server_registered'));
    await store.registerIdentityProvider(provider, event('identity_provider_registered'));
    const found = async ({ digest }: { digest: Buffer }) => [
      await store.findClientBySecret(digest),
      await store.findResourceServerBySecret(digest),
      await store.findIdentityProviderBySecret(digest),
    ];
    for (const secret of secrets)
      assert.deepEqual(
        (await found(secret)).map((row) => row?.id),
        ['app_found', 'rs_found', 'found'],
      );
    assert.deepEqual(await found(sampleSecret()), [null, null, null]);
    await store.replaceClientSecrets(client, [newer], event('client_secret_retired'));
    await store.replaceResourceServerSecrets(server, [newer], event('resource_server_secret_retired'));
    await store.replaceIdentityProviderSecrets(provider, [newer], event('identity_provider_secret_retired'));
    assert.deepEqual(await found(older), [null, null, null]);
    assert.deepEqual(
      (await found(newer)).map((row) => row?.id),
      ['app_found', 'rs_found', 'found'],
    );
  });
}
