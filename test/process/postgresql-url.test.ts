/** A URL of PostgreSQL with one server or several, as libpq writes it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPostgresqlUrl } from '../../src/process/postgresql-url.ts';

test('a URL with several hosts gives a URL for each, with the same user, database and options', () => {
  const { place, servers } = readPostgresqlUrl(
    'postgres://vk:p%40ss@one,two:5433,[::1]:5434/valetkey?target_session_attrs=read-write&sslmode=verify-full',
  );
  const rest = '/valetkey?target_session_attrs=read-write&sslmode=verify-full';
  assert.equal(place, 'one,two:5433,[::1]:5434/valetkey');
  assert.deepEqual(servers, [
    { host: 'one', url: `postgres://vk:p%40ss@one${rest}` },
    { host: 'two:5433', url: `postgres://vk:p%40ss@two:5433${rest}` },
    { host: '[::1]:5434', url: `postgres://vk:p%40ss@[::1]:5434${rest}` },
  ]);
});

test('a URL with one host, or a socket of this machine, is as it was', () => {
  for (const url of [
    'postgresql://one/valetkey',
    'postgres://vk:a,b@one:5/v',
    'postgres:///valetkey?host=/run/postgresql',
  ])
    assert.deepEqual(
      readPostgresqlUrl(url).servers.map((server) => server.url),
      [url],
    );
  assert.equal(readPostgresqlUrl('postgres:///valetkey?host=/run/postgresql').place, 'this machine/valetkey');
});

test('a bad list of hosts is refused with what to write, and without the password', () => {
  const refusals: Readonly<Record<string, RegExp>> = {
    'postgres://vk:secret@one,,two/v': /a host is missing beside a comma: write postgres/,
    'postgres://vk:secret@one,two,/v': /a host is missing beside a comma/,
    'postgres://vk:secret@one,:5433/v': /a host is missing beside a comma/,
    'postgres://vk:secret@one:5432,two:99999/v': /"two:99999" is no host and port: write/,
    'postgres://vk:secret@one,two/v?target_session_attrs=prefer-standby':
      /is prefer-standby, but a replica cannot serve: write read-write/,
    'postgres://vk:secret@/v?host=one,two': /name several hosts before the database/,
    'postgres://vk:sec/ret@one,two/v': /it cannot be read: write .* encoded, such as %2F for \//,
    'mysql://one/v': /write postgres:/,
  };
  for (const [url, words] of Object.entries(refusals))
    assert.throws(
      () => readPostgresqlUrl(url),
      (error: Error) => {
        assert.ok(error instanceof RangeError, url);
        assert.match(error.message, words);
        assert.doesNotMatch(error.message, /sec(ret)?\b/);
        return true;
      },
    );
});
