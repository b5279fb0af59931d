import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type CheckResult, principalOf } from '../../packages/verify/src/verifier.ts';
import { active, startBroken, verifierOf } from './broken-authorization-server.ts';

const server = await startBroken({ after });
server.reply = ({ form }) => (form.get('token') === 'good' ? active() : { active: false });
const verifier = verifierOf({ after }, server, { cache: false });

function refused(result: CheckResult) {
  assert.ok(!result.ok, 'it is refused');
  return result;
}

test('RFC 6750 §2.1: the scheme is read in any case of letters, and the token to the letter', async () => {
  for (const header of ['Bearer good', 'bearer good', 'BEARER   good  '])
    assert.ok((await verifier.check(header)).ok, header);
  for (const token of ['Good', 'good=', 'goo'])
    assert.equal(refused(await verifier.check(`Bearer ${token}`)).status, 401, token);
});

test('RFC 6750 §3.1: where no token came, the challenge names no error', async () => {
  for (const header of [undefined, null, '', 'Basic YTpi', 'Bearer', 'Bearer ', 'Bearer\tgood', 'Bearergood', 'good']) {
    const { status, headers, body } = refused(await verifier.check(header));
    assert.equal(status, 401, String(header));
    assert.equal(headers['WWW-Authenticate'], 'Bearer realm="valetkey"', String(header));
    assert.equal(body.error, 'missing_token');
  }
});

test('RFC 6750 §3.1: a header that holds anything but one token is invalid_request, and nobody is asked', async () => {
  const asked = server.questions.length;
  for (const token of [
    'a b',
    'good, Bearer good',
    'a=b',
    '=',
    'tö',
    '"good"',
    'good\n',
    'x'.repeat(4097),
    `${'='.repeat(5000)}!`,
  ]) {
    const { status, headers, body } = refused(await verifier.check(`Bearer ${token}`));
    assert.equal(status, 400, token);
    assert.match(headers['WWW-Authenticate'] ?? '', /^Bearer realm="valetkey", error="invalid_request", error_desc/);
    assert.equal(body.error, 'invalid_request');
  }
  assert.equal(server.questions.length, asked);
});

test('RFC 6750 §3, §3.1: a token that does not work is invalid_token', async () => {
  const { status, headers, body } = refused(await verifier.check('Bearer bad'));
  assert.equal(status, 401);
  assert.equal(
    headers['WWW-Authenticate'],
    'Bearer realm="valetkey", error="invalid_token", error_description="the access token is invalid, expired or revoked"',
  );
  assert.deepEqual(body, {
    error: 'invalid_token',
    error_description: 'the access token is invalid, expired or revoked',
  });
  assert.equal(headers['Cache-Control'], 'no-store');
  assert.equal(headers['Content-Type'], 'application/json');
});

test('RFC 6750 §3.1, OAuth 2.1 §5.2: a token without one of the scopes is insufficient_scope, which names them', async () => {
  assert.ok((await verifier.check('Bearer good', { scopes: ['mail.send', 'mail.read'] })).ok);
  for (const scopes of [['mail.delete'], ['mail.read', 'mail.delete'], ['mail'], ['MAIL.READ']]) {
    const { status, headers, body } = refused(await verifier.check('Bearer good', { scopes }));
    assert.equal(status, 403);
    assert.ok(headers['WWW-Authenticate']?.includes('error="insufficient_scope"'));
    assert.ok(headers['WWW-Authenticate']?.endsWith(`, scope="${scopes.join(' ')}"`));
    assert.equal(body.error, 'insufficient_scope');
  }
});

test('RFC 9728 §5.1, §5.2, RFC 6750 §3: every challenge names the metadata of a resource that has any', async () => {
  const places = {
    'https://api.example': 'https://api.example/.well-known/oauth-protected-resource',
    'https://api.example/': 'https://api.example/.well-known/oauth-protected-resource',
    'https://api.example:8443/mail/v1?a=1': 'https://api.example:8443/.well-known/oauth-protected-resource/mail/v1?a=1',
    'https://api.example/mail/': 'https://api.example/.well-known/oauth-protected-resource/mail/',
    'https://api.example/?a=\\': 'https://api.example/.well-known/oauth-protected-resource?a=\\\\',
    'https://api.example/"?"': 'https://api.example/.well-known/oauth-protected-resource/%22?%22',
    'urn:example:mail': undefined,
  };
  for (const [resource, place] of Object.entries(places)) {
    const ours = verifierOf({ after }, server, { cache: false, resource });
    for (const header of [undefined, 'Bearer !', 'Bearer bad', 'Bearer good']) {
      const { headers } = refused(await ours.check(header, { scopes: ['other'] }));
      const [, found] = /[, ]resource_metadata="((?:[^"\\]|\\.)*)"$/.exec(headers['WWW-Authenticate'] ?? '') ?? [];
      assert.equal(found, place, headers['WWW-Authenticate']);
    }
  }
});

test('a principal is frozen and made for one check, so that no request can change what the next one sees', async () => {
  const first = await verifier.check('Bearer good');
  const second = await verifier.check('Bearer good');
  assert.ok(first.ok && second.ok);
  assert.ok(Object.isFrozen(first.principal) && Object.isFrozen(first.principal.scopes));
  first.principal.expiresAt.setTime(0);
  assert.ok(second.principal.expiresAt.getTime() > Date.now());
  const members = ['sub', 'username', 'externalId', 'clientId', 'scopes', 'expiresAt', 'grantId'];
  assert.deepEqual(Object.keys(first.principal), members);
});

test('a request that no check let pass has no principal', () => {
  assert.throws(() => principalOf({}), /use requireToken on its route/);
});

test('RFC 7662 §4: an option that would check nothing, or never pass, is an error and not a surprise', async () => {
  const wrong = [{ scope: ['mail'] }, { scopes: 'mail' }, { scopes: ['a b'] }, { scopes: [''] }, { scopes: [1] }];
  for (const options of wrong) await assert.rejects(verifier.check('Bearer good', options as object), TypeError);
  const right = { issuer: 'https://auth.example', id: 'rs_1', secret: 'canary-secret' };
  for (const options of [
    { issuer: '' },
    { issuer: 'auth.example' },
    { issuer: 'http://auth.example' },
    { issuer: 'http://localhost.example' },
    { issuer: 'https://auth.example/path' },
    { issuer: 'https://user@auth.example' },
    { issuer: 'https://auth.example?a' },
    { issuer: 'ftp://localhost' },
    { id: '' },
    { secret: '' },
    { secret: undefined },
    { resource: '/mail' },
    { resource: 'https://api.example/#a' },
    { resource: 'https://api.example/a b' },
    { resource: 'https://api.example/\r\nX: y' },
    { acceptUnbound: 'false' as unknown as boolean },
    { timeout: 0 },
    { timeout: 1.5 },
    { timeout: Number.POSITIVE_INFINITY },
  ])
    assert.throws(
      () => verifierOf({ after }, server, { ...right, ...options } as object),
      (error: Error) => error instanceof TypeError && !error.message.includes('canary'),
      JSON.stringify(options),
    );
  for (const issuer of [
    'https://auth.example',
    'https://Auth.Example:443/',
    'http://localhost:3000',
    'http://[::1]:3000',
  ])
    verifierOf({ after }, server, { ...right, issuer });
});
