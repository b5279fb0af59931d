import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import type { Link } from '../../src/accounts/import/user-links.ts';
import { storesWithProvider } from '../support/provider.ts';
import { PASSWORD, type TestService } from '../support/service.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';

const server = await sharedPostgres();
after(() => server.remove());

function add({ installation }: TestService, name: string) {
  const about = { email: `${name}@example.com`, name, username: name, password: PASSWORD };
  return installation.accounts.add(about, installation.operator);
}

function run({ installation }: TestService, lines: readonly (Partial<Link> | string)[]) {
  async function* pieces() {
    for (const line of lines) yield Buffer.from(`${typeof line === 'string' ? line : JSON.stringify(line)}\n`);
  }
  return installation.links.run(pieces(), installation.operator);
}

const to = (account: string, subject: string): Link => ({ account, provider: 'product', subject });

for (const [store, start] of Object.entries(storesWithProvider(server)))
  describe(`linking accounts, on ${store}`, () => {
    it('an account is linked once; a subject that has one stays its, and the refusal names it and its live grants', async (t) => {
      const { instances } = await start(t);
      const [service] = instances as [TestService];
      const { links, audit, operator } = service.installation;
      const [ada, eve] = [await add(service, 'ada'), await add(service, 'eve')];
      assert.equal((await links.link(to('ada@example.com', '4711'), operator)).outcome, 'linked');
      assert.equal((await links.link(to(ada.id, '4711'), operator)).outcome, 'already');
      await assert.rejects(links.link(to('eve@example.com', '4711'), operator), {
        message: `subject: it is account ${ada.id} (ada@example.com) already, which has 0 live grants`,
      });
      assert.deepEqual(await links.identitiesOf(eve), []);
      const [event, ...others] = await audit.listAuditEvents({ action: 'user_linked', limit: 5 });
      assert.deepEqual([event?.resourceOwnerId, event?.clientId, others], [ada.id, 'product', []]);
    });

    it('of many lines for one subject the first counts, and good lines beside refused ones are linked', async (t) => {
      const { instances } = await start(t);
      const [service] = instances as [TestService];
      const names = ['ada', 'eve', 'bob'];
      for (const name of names) await add(service, name);
      const lines = names.map((name) => to(`${name}@example.com`, 'same'));
      const { linked, already, refused } = await run(service, [
        ...lines,
        to('bob@example.com', 'bob'),
        'null',
        to('bob@example.com', 'with space'),
        { ...to('bob@example.com', 'x'), provider: 'none' },
      ]);
      assert.deepEqual([linked, already, refused.map(({ line }) => line)], [2, 0, [2, 3, 5, 6, 7]]);
      const again = await run(service, lines);
      assert.deepEqual([again.linked, again.already, again.refused.length], [0, 1, 2]);
    });

    it('with --own-ids nobody is linked', async (t) => {
      const { instances } = await start(t, { ownIds: true });
      const [service] = instances as [TestService];
      await assert.rejects(
        service.installation.links.link(to('ada', '7'), service.installation.operator),
        /provider with --own-ids/,
      );
      await assert.rejects(run(service, [to('ada', '7')]), /provider with --own-ids/);
    });
  });
