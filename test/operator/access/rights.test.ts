// The contract of rights, written down a second time: each act by each role, with a fresh session, a stale one, a session of a
// one-time address, a key with the right, a key with every other right, and of a disabled operator.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ROLES, type Role } from '../../../src/operator/access/operator.ts';
import {
  ACTS,
  type Access,
  type AccessRefusal,
  type Act,
  PRESENCE_MS,
  RIGHTS,
  type Right,
  refusalOf,
} from '../../../src/operator/access/rights.ts';

const NOW = 1_800_000_000_000;

/** The acts of support beyond those that only look. */
const SUPPORT = [
  ...['clients.pause', 'clients.resume', 'users.disable', 'users.enable', 'users.end-sessions'],
  ...['users.revoke-grants', 'grants.revoke'],
];
/** The acts of everyone: all that only look, and one's own passkeys and sessions. */
const READ = /^(?:own\..+|.+\.(?:list|show|tallies|failures)|identify)$/;
/** The acts that act as another, make trust, end many, or concern operators. */
const PRESENT =
  /^(?:.+\.(?:make-secret|retire-secret|hand-over|vouch|set-consent|set-sign-in|set-keys|set-sentences|trust|invite|delete|end-all)|clients\.revoke-grants|identity-providers\.register|operators\.(?!list|show).+|own\.(?:add|remove)-passkey)$/;
const NO_PRESENCE = ['scopes.delete'];
const COMMANDS_ALONE = [
  ...['clients.refresh', 'users.add', 'users.set-password', 'users.link', 'users.import', 'grants.revoke-all'],
  ...['audit.verify', 'audit.export', 'audit.shorten', 'operators.remove-last-admin'],
];

const isCommandsAlone = (act: string) => /^(?:keys|database)\./.test(act) || COMMANDS_ALONE.includes(act);
const roleFor = (act: string): Role => (READ.test(act) ? 'read' : SUPPORT.includes(act) ? 'support' : 'admin');
const needsPresence = (act: string) => PRESENT.test(act) && !NO_PRESENCE.includes(act);

/** The one right for each act, where a key may do it. */
function rightFor(act: string): Right | null {
  const [noun, verb = ''] = act.split('.') as [string, string?];
  if (noun === 'operators' || noun === 'own') return null;
  if (act === 'identify') return 'identify';
  if (noun === 'audit-events') return 'audit.read';
  if (/revoke|end-all/.test(verb)) return 'grants.end';
  if (READ.test(act)) return `${noun}.read` as Right;
  if (/secret|hand-over|set-keys/.test(verb)) return `${noun}.secrets` as Right;
  if (/vouch|set-consent|set-sign-in|set-sentences|trust/.test(verb) || act === 'identity-providers.register')
    return `${noun}.trust` as Right;
  return (verb === 'invite' ? 'users.invite' : `${noun}.write`) as Right;
}

const access = (role: Role, by: Access['by'], status: 'active' | 'disabled' = 'active'): Access => ({
  operator: { id: 'opr_1', name: 'Ann', role, status, epoch: 1, createdAt: NOW },
  by,
});
const session = (presentAt: number | null, how: 'passkey' | 'address' = 'passkey') =>
  ({ kind: 'session', digest: Buffer.alloc(32), how, createdAt: NOW, presentAt }) as const;
const key = (rights: readonly Right[]) => ({ kind: 'key', keyId: 'opk_1', rights }) as const;

for (const act of Object.keys(ACTS) as Act[])
  test(`rights: ${act} by each role and kind of access`, () => {
    for (const role of ROLES) {
      const lacksRole: AccessRefusal | null = isCommandsAlone(act)
        ? 'commands alone'
        : ROLES.indexOf(role) < ROLES.indexOf(roleFor(act))
          ? 'role'
          : null;
      const without = (refusal: AccessRefusal | null) => lacksRole ?? refusal;
      const stale = needsPresence(act) ? 'presence' : null;
      const right = rightFor(act);
      const refused = (by: Access['by']) => refusalOf(act, access(role, by), NOW);

      assert.equal(refused(session(NOW - PRESENCE_MS + 1)), without(null), `${role}, fresh`);
      assert.equal(refused(session(NOW - PRESENCE_MS)), without(stale), `${role}, stale`);
      assert.equal(refused(session(null)), without(stale), `${role}, without a passkey`);
      const atAddress = act === 'own.add-passkey' ? null : stale;
      assert.equal(refused(session(null, 'address')), without(atAddress), `${role}, at an address`);
      assert.equal(refused(key(right ? [right] : [])), without(right ? null : 'right'), `${role}, key`);
      assert.equal(refused(key(RIGHTS.filter((other) => other !== right))), without('right'), `${role}, other key`);
      for (const by of [session(NOW), key(RIGHTS)])
        assert.equal(refusalOf(act, access(role, by, 'disabled'), NOW), 'disabled', `${role}, disabled`);
    }
  });

test('operators §3: a clock that is set back lengthens no presence', () => {
  const refused = (presentAt: number) => refusalOf('operators.add', access('admin', session(presentAt)), NOW);
  assert.deepEqual([refused(NOW + 60_000), refused(NOW + 60_001)], [null, 'presence']);
});

test('operators: support gets no one-time address, no secret and no trust by any access', () => {
  const gives = (Object.keys(ACTS) as Act[]).filter((act) =>
    /secret|hand-over|keys|vouch|consent|sentences|trust|invite|register|operators\.(?:add|reset|sign-in)|link|password|import/.test(
      act,
    ),
  );
  assert.ok(gives.length > 20);
  for (const act of gives)
    for (const by of [session(NOW), session(NOW, 'address'), key(RIGHTS)])
      assert.notEqual(refusalOf(act, access('support', by), NOW), null, act);
});

test('operators: each right of a key is needed by some act, so that none is given in vain', () => {
  const needed = new Set(Object.values(ACTS).map((needs) => (typeof needs === 'string' ? null : needs.right)));
  assert.deepEqual(
    RIGHTS.filter((right) => !needed.has(right)),
    [],
  );
});
