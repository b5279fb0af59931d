import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ActSince, endedEvents, endedSince, revivedSince } from '../../src/oauth/installation/since-backup.ts';
import { readMembers, type SettingChange } from '../../src/oauth/trail/event-members.ts';
import { NOW, operator, recorded } from '../support/storage.ts';

const act = (action: ActSince['action'], some: Partial<ActSince> = {}): ActSince => ({
  ...{ action, clientId: null, resourceOwnerId: null, grantId: null, members: null },
  ...some,
});

test('restore: every kind of end of grants is found in the newer trail', () => {
  const of = { clientId: 'app_one', resourceOwnerId: 'usr_ada' };
  const one = (grantId: string) => ({ ...of, grantId });
  assert.deepEqual(
    endedSince([
      act('grant_revoked', one('a')),
      act('code_replay', one('b')),
      act('refresh_reuse', one('c')),
      act('refresh_conflict', one('d')),
      act('too_many_grants', one('e')),
      act('grant_revoked', of),
      act('grant_revoked', { ...of, members: { all_of_app: true, but_for_devices: true } }),
      act('client_grants_revoked', { clientId: 'app_two' }),
      act('client_deleted', { clientId: 'app_three' }),
      act('user_grants_revoked', { resourceOwnerId: 'usr_bob' }),
      act('user_deleted', { resourceOwnerId: 'usr_eve' }),
      act('consent_allowed', one('f')),
    ]),
    {
      all: false,
      clientIds: ['app_two', 'app_three'],
      resourceOwnerIds: ['usr_bob', 'usr_eve'],
      pairs: [
        { ...of, butForDevices: false },
        { ...of, butForDevices: true },
      ],
      grantIds: ['a', 'b', 'c', 'd', 'e'],
    },
  );
  assert.equal(endedSince([act('all_grants_revoked')]).all, true);
});

const [ONE, TWO] = ['https://one.example/cb', 'https://two.example/cb'];
const change = (name: string, removed: string[], added: string[]): SettingChange => ({ name, removed, added });
const renamed = change('name', ['Ann'], ['Anna']);
const AGENT = 'https://agent.example/client.json';

test('restore: what was taken away since is back to life, unless it was given back', () => {
  const client = { clientId: 'app_one' };
  const ada = { resourceOwnerId: 'usr_ada' };
  assert.deepEqual(
    revivedSince([
      act('client_paused', client),
      act('client_resumed', client),
      act('client_secret_retired', client),
      act('client_updated', { ...client, members: { changes: [change('redirect_uris', [ONE], [TWO])] } }),
      act('client_updated', { clientId: 'app_two', members: { changes: [change('name', [], ['Photos -x'])] } }),
      act('client_document_refreshed', {
        clientId: AGENT,
        members: { changes: [change('redirect_uris', [ONE], [])], sha256: 'ab' },
      }),
      act('client_document_refreshed', { clientId: 'https://two.example/a', members: { changes: [], sha256: 'ab' } }),
      act('user_disabled', ada),
      act('password_changed', ada),
      act('user_password_set', ada),
      act('identity_provider_paused', { clientId: 'product' }),
      act('resource_server_secret_retired', { clientId: 'rs_one' }),
      act('root_key_used', { members: { root_key: '0000002a' } }),
      act('root_key_retired', { members: { root_key: '1f0c27a9' } }),
    ]).map(({ kind, id, what }) => `${kind} ${id} ${what}`),
    [
      'client app_one secret',
      'client app_one settings',
      `client ${AGENT} settings`,
      'user usr_ada activity',
      'user usr_ada password',
      'identity_provider product activity',
      'resource_server rs_one secret',
      'root_key 1f0c27a9 itself',
    ],
  );
});

test('restore: operators, their keys and passkeys that ended since are back to life', () => {
  const opr = (id: string, ...changes: SettingChange[]) => ({
    clientId: `opr_${id}`,
    members: { name: 'role -admin +read', changes },
  });
  assert.deepEqual(
    revivedSince([
      act('operator_disabled', opr('off')),
      act('operator_disabled', opr('on')),
      act('operator_enabled', opr('on')),
      act('operator_deleted', opr('gone')),
      act('operator_reset', opr('reset')),
      act('operator_passkey_removed', opr('laptop')),
      act('operator_key_ended', opr('key')),
      act('operator_updated', opr('lower', change('role', ['admin'], ['support']))),
      act('operator_updated', opr('lowest', renamed, change('role', ['support'], ['read']))),
      act('operator_updated', opr('higher', change('role', ['read'], ['admin']))),
      act('operator_updated', opr('renamed', renamed, change('name', ['admin'], ['read']))),
      act('operator_sessions_ended', opr('out')),
    ]).map(({ kind, id, what }) => `${kind} ${id} ${what}`),
    [
      'operator opr_off activity',
      'operator opr_off secret',
      'operator opr_on secret',
      'operator opr_gone itself',
      'operator opr_reset passkeys',
      'operator opr_laptop passkeys',
      'operator opr_key secret',
      'operator opr_lower settings',
      'operator opr_lowest settings',
    ],
  );
});

test('restore: what it ended is told in events that another restore reads as the same', () => {
  const pair = { clientId: 'app_one', resourceOwnerId: 'usr_ada' };
  const acts = [
    act('grant_revoked', { ...pair, grantId: 'a' }),
    act('grant_revoked', pair),
    act('grant_revoked', { ...pair, members: { all_of_app: true, but_for_devices: true } }),
    act('client_deleted', { clientId: 'app_two' }),
    act('user_grants_revoked', { resourceOwnerId: 'usr_bob' }),
    act('client_paused', { clientId: 'app_one' }),
    act('identity_provider_paused', { clientId: 'product' }),
    act('user_disabled', { resourceOwnerId: 'usr_bob' }),
    act('user_password_set', { resourceOwnerId: 'usr_ada' }),
    act('operator_disabled', { clientId: 'opr_ann' }),
    act('operator_reset', { clientId: 'opr_bea' }),
    act('root_key_retired', { members: { root_key: '0000000a' } }),
  ];
  const [ended, revived] = [endedSince(acts), revivedSince(acts)];
  const again = endedEvents(ended, revived, operator, NOW).map((each) => {
    const { detail, ...rest } = recorded(each);
    return { ...rest, members: readMembers(detail) };
  });
  assert.deepEqual(endedSince(again), ended);
  const things = [
    'client app_one activity',
    'identity_provider product activity',
    'user usr_bob activity',
    'user usr_ada password',
    'operator opr_ann activity',
    'operator opr_ann secret',
    'operator opr_bea passkeys',
  ];
  const told = revivedSince(again).map(({ kind, id, what }) => `${kind} ${id} ${what}`);
  assert.deepEqual(told, ['client app_two activity', ...things], 'a deleted app that is back was paused');
});

test('restore: a grant that was also allowed since is not in the backup', () => {
  const one = { clientId: 'app_one', resourceOwnerId: 'usr_ada', grantId: 'a' };
  assert.deepEqual(endedSince([act('consent_allowed', one), act('grant_revoked', one)]).grantIds, []);
});
