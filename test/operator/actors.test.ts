// One installation serves many operators: each act names in the audit trail the actor that it was given.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { grantIdText } from '../../src/oauth/grants/grant.ts';
import type { Actor } from '../../src/oauth/trail/audit.ts';
import { obtainPair, signedInBrowser } from '../support/flow.ts';
import { registerProvider } from '../support/provider.ts';
import { addClient, addUser, startTestService, type TestService } from '../support/service.ts';

type Installation = TestService['installation'];
type Acts = Readonly<Record<string, (operator: Actor) => Promise<unknown>>>;

const person = { email: 'grace@example.com', name: 'Grace', username: null };
const app = { name: 'Act App', redirectUris: ['https://act.example/cb'] };
const document = { address: 'https://agent.example/c.json', sha256: 'ab'.repeat(32), jwksUri: null, fetchedAt: 0 };

async function* lines(...said: readonly string[]) {
  for (const line of said) yield Buffer.from(`${line}\n`);
}

/** Every act of an operator, in an order in which none is refused. */
async function actsOn({ installation }: TestService): Promise<Acts> {
  const { clients, resourceServers, scopes, identityProviders, accounts, imports, links }: Installation = installation;
  const { grants, backups, auditTrail }: Installation = installation;
  const { row: client } = await clients.register('confidential', app, installation.operator);
  const { row: resourceServer } = await resourceServers.register(
    { name: 'Act API', resource: null, scopes: null },
    installation.operator,
  );
  const { id } = client;
  const api = resourceServer.id;
  return {
    'client register': (who) => clients.register('public', { ...app, name: 'Other' }, who),
    'client register --from': (who) => clients.register('public', { ...app, name: 'Agent' }, who, document),
    'client update': (who) => clients.update(id, { publisher: 'Act Ltd' }, who),
    'client rotate-secret': (who) => clients.rotateSecret(id, who),
    'client retire-secret': (who) => clients.retireSecret(id, who),
    'client pause': (who) => clients.pause(id, who),
    'client resume': (who) => clients.resume(id, who),
    'client revoke-grants': (who) => clients.revokeGrants(id, who),
    'client delete': (who) => clients.delete(id, who),
    'resource-server register': (who) =>
      resourceServers.register({ name: 'Other API', resource: null, scopes: null }, who),
    'resource-server update': (who) => resourceServers.update(api, { name: 'New API' }, who),
    'resource-server rotate-secret': (who) => resourceServers.rotateSecret(api, who),
    'resource-server retire-secret': (who) => resourceServers.retireSecret(api, who, 'newer'),
    'resource-server delete': (who) => resourceServers.delete(api, who),
    'scope define': (who) => scopes.define('mail', { en: 'Read your mail' }, who),
    'scope delete': (who) => scopes.delete('mail', who),
    'identity-provider register': (who) => registerProvider({ installation: { ...installation, operator: who } }),
    'identity-provider update': (who) => identityProviders.update('product', { name: 'Pictures' }, who),
    'identity-provider rotate-secret': (who) => identityProviders.rotateSecret('product', who),
    'identity-provider retire-secret': (who) => identityProviders.retireSecret('product', who),
    'identity-provider pause': (who) => identityProviders.pause('product', who),
    'identity-provider resume': (who) => identityProviders.resume('product', who),
    'identity-provider end-all': (who) => identityProviders.endAll('product', 0, who),
    'user add': (who) => accounts.addInvited(person, who),
    'user invite': (who) => accounts.invite(person.email, who),
    'user update': (who) => accounts.update(person.email, { name: 'Grace H.' }, who),
    'user set-password': (who) => accounts.setPassword(person.email, 'correct horse battery', who),
    'user link': (who) => links.link({ account: person.email, provider: 'product', subject: '4711' }, who),
    'user link --file': (who) =>
      links.run(lines(JSON.stringify({ account: person.email, provider: 'product', subject: '4712' })), who),
    'user import': (who) =>
      imports.run(lines('{"name":"Ida","provider":"product","subject":"4713"}'), { dryRun: false }, who),
    'user end-sessions': (who) => accounts.endSessions(person.email, who),
    'user disable': (who) => accounts.disable(person.email, who),
    'user enable': (who) => accounts.enable(person.email, who),
    'user revoke-grants': (who) => accounts.revokeGrants(person.email, who),
    'user delete': (who) => accounts.delete(person.email, who),
    'grant revoke': async (who) => {
      const [listed] = await grants.list({ limit: 1 });
      return grants.revoke(grantIdText(listed?.grant.id ?? assert.fail()), who);
    },
    'grant revoke --all': (who) => grants.revokeAll(who),
    'database note-backup': (who) => backups.note('here', who),
    'keys retire, before the key goes': (who) => auditTrail.prove(false, who),
    'database restore': (who) =>
      backups.restore({ keepGrants: false, from: 'a test', trail: null, endRevived: false }, who),
  };
}

test('each act of an operator names in the audit trail the one who did it, though one installation serves them all', async (t) => {
  const service = await startTestService(t);
  const { email } = await addUser(service);
  const browser = await signedInBrowser(service, email ?? '');
  await obtainPair(service, browser, await addClient(service));
  const acts = Object.entries(await actsOn(service));
  const { audit } = service.installation;
  let last = 0;
  const news = async () => {
    const events = await audit.listAuditEvents({ limit: 1000 });
    const later = events.filter(({ sequence }) => sequence > last);
    last = events[0]?.sequence ?? 0;
    return later;
  };
  await news();
  for (const [index, [name, act]] of acts.entries()) {
    const who: Actor = {
      kind: 'operator',
      id: `operator ${index}`,
      source: '192.0.2.1',
      requestId: `request-${index}`,
      by: `opk_${index}`,
    };
    await act(who);
    const actors = (await news()).map(({ actor }) => actor);
    assert.notEqual(actors.length, 0, `${name} is not in the audit trail`);
    for (const actor of actors) assert.deepEqual(actor, who, name);
  }
});
