import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutSignIn } from '../../../src/oauth/grants/scope.ts';
import { claimsOf, fieldsAskedFor } from '../../../src/oauth/openid/openid-scope.ts';

const ada = {
  id: 'user_1',
  username: 'ada',
  email: 'ada@example.com',
  name: 'Ada',
  avatarUrl: 'https://one.test/a.png',
};

test('OpenID Connect Core §5.1: the claims of a grant are its profile fields that have a value', () => {
  const claims = {
    sub: 'user_1',
    name: 'Ada',
    preferred_username: 'ada',
    picture: 'https://one.test/a.png',
    ...{ email: 'ada@example.com', email_verified: true },
  };
  assert.deepEqual(claimsOf(ada, { personFields: 'name username email avatar_url' }), claims);
  assert.deepEqual(claimsOf(ada, { personFields: '' }), { sub: 'user_1' });
  assert.deepEqual(claimsOf(ada, { personFields: 'username' }), { sub: 'user_1', preferred_username: 'ada' });
  const unnamed = { ...ada, username: null, email: null, name: null, avatarUrl: null };
  assert.deepEqual(claimsOf(unnamed, { personFields: 'name username email avatar_url' }), { sub: 'user_1' });
});

test('OpenID Connect Core §5.4: scopes ask for no field that the operator did not choose for the app', () => {
  const all = { personFields: ['name', 'username', 'email', 'avatar_url'] as const };
  assert.deepEqual(fieldsAskedFor(['openid', 'photos'], all), []);
  assert.deepEqual(fieldsAskedFor(['openid', 'profile'], all), ['name', 'username', 'avatar_url']);
  assert.deepEqual(fieldsAskedFor(['openid', 'email', 'profile'], { personFields: ['email', 'name'] }), [
    'email',
    'name',
  ]);
  assert.deepEqual(fieldsAskedFor(['openid', 'email'], { personFields: ['name'] }), []);
});

test('APIs see the scope of a grant without those of OpenID Connect', () => {
  assert.deepEqual(withoutSignIn('openid profile photos email send'), ['photos', 'send']);
  assert.deepEqual(withoutSignIn('openid profile email'), []);
});
