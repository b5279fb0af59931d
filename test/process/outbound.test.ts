/** Requests to addresses that others wrote: only public ones are asked, and the one that was judged is the one that is asked. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type http from 'node:http';
import https from 'node:https';
import { type AddressInfo, BlockList } from 'node:net';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { isPublic, Outbound, type OutboundWorld, plainAddress } from '../../src/process/outbound.ts';
import { makeCertificate } from '../support/certificate.ts';

const LIMIT = 5120;
const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8);

const { cert, key } = makeCertificate(Date.now(), 3_600_000, { host: 'client.example' });
/** How the next request is answered. */
let answer: http.RequestListener = (_request, response) => void json(response, { a: 1 });
const asked: { host: string | undefined; at: string | undefined }[] = [];
const server = https.createServer({ cert, key }, (request, response) => {
  asked.push({ host: request.headers.host, at: request.socket.localAddress });
  answer(request, response);
});
await once(server.listen(0, '127.0.0.1'), 'listening');
after(() => {
  server.closeAllConnections();
  server.close();
});
const { port } = server.address() as AddressInfo;
const url = `https://client.example:${port}/client.json`;

function json(response: http.ServerResponse, value: unknown, headers: http.OutgoingHttpHeaders = {}): void {
  response.writeHead(200, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(value));
}

/** What may ask this machine, as if it were a private network that the operator allowed. */
function outbound(world: Partial<OutboundWorld> = {}, privateNetworks = loopback): Outbound {
  const resolve = async () => ['127.0.0.1'];
  return new Outbound(
    { isLocal: false, privateNetworks },
    { resolve, certificateAuthority: cert, now: Date.now, ...world },
  );
}

async function refusal(fetching: ReturnType<Outbound['fetchJson']>): Promise<string> {
  const fetched = await fetching;
  assert.equal(fetched.kind, 'refused');
  return fetched.kind === 'refused' ? fetched.problem : '';
}

test('RFC 9110 §15.3.1: a document is fetched by its name, with TLS and Host of that name', async () => {
  answer = (_request, response) => json(response, { a: 1 });
  const fetched = await outbound().fetchJson(url, LIMIT);
  assert.deepEqual(fetched, { kind: 'fetched', value: { a: 1 }, text: '{"a":1}' });
  assert.equal(asked.at(-1)?.host, `client.example:${port}`);
});

test('draft-ietf-oauth-client-id-metadata-document §8.6, SSRF: only public unicast addresses are public, and IPv4 is taken out of the IPv6 forms that carry it', () => {
  const addresses = {
    public: [
      '93.184.216.34',
      '2606:2800:220:1::1',
      '64:ff9b::5db8:d822',
      '2002:5db8:d822::1',
      '::ffff:93.184.216.34',
      '168.63.129.15',
    ],
    not: [
      ...['10.0.0.1', '172.16.0.1', '192.168.0.1', '127.0.0.1', '169.254.169.254', '100.64.0.1', '0.0.0.0'],
      ...['224.0.0.1', '255.255.255.255', '192.0.2.1', '198.18.0.1', '240.0.0.1'],
      ...[
        '::',
        '::1',
        'fe80::1',
        'fc00::1',
        'fd00:ec2::254',
        'ff02::1',
        '2001:db8::1',
        '::ffff:10.0.0.1',
        '::10.0.0.1',
      ],
      ...['64:ff9b::a00:1', '64:ff9b:1::1', '2002:a00:1::1', '2001::1', '100::1', '4000::1'],
      // RFC 8215: the place of the IPv4 address is the network's choice, so 8.8.8.8 may be 169.254.169.254.
      ...['64:ff9b:1:a9fe:a9:fe00:808:808', '64:ff9b:1::808:808', '64:ff9b:1:ffff:ffff:ffff:808:808'],
      ...['64:ff9b:0:1::808:808', '64:ff9b::1:808:808', '64:ff9b:2::808:808'],
      // IPv4-compatible (RFC 4291 §2.5.5.1), as resolvers write it: not mapped, so it is not 8.8.8.8.
      ...['::8.8.8.8', '::808:808'],
      // Azure's host, also in the forms that carry it.
      ...['168.63.129.16', '::ffff:168.63.129.16', '64:ff9b::a83f:8110', '2002:a83f:8110::1'],
    ],
  };
  for (const [kind, texts] of Object.entries(addresses))
    for (const text of texts) assert.equal(isPublic(plainAddress(text)), kind === 'public', text);
});

test('draft-ietf-oauth-client-id-metadata-document §8.6, SSRF: a name with one address that is not public is not asked, whatever its others are', async () => {
  const before = asked.length;
  for (const found of [['10.0.0.1'], ['93.184.216.34', '10.0.0.1'], ['::ffff:127.0.0.1'], ['169.254.169.254']])
    assert.match(
      await refusal(outbound({ resolve: async () => found }, new BlockList()).fetchJson(url, LIMIT)),
      /not public \([\d.]+\): allow it with VALETKEY_OUTBOUND_PRIVATE_NETWORKS/,
    );
  for (const address of ['https://127.0.0.1/a', 'https://[::1]/a', 'https://[::ffff:7f00:1]/a', 'https://2130706433/a'])
    assert.match(await refusal(outbound({}, new BlockList()).fetchJson(address, LIMIT)), /not public/);
  assert.equal(asked.length, before);
});

test('draft-ietf-oauth-client-id-metadata-document §8.6, SSRF: the name is resolved once, so that it cannot lead elsewhere between look-up and connection', async () => {
  answer = (_request, response) => json(response, {});
  let times = 0;
  const resolve = async () => (times++ === 0 ? ['127.0.0.1'] : ['127.0.0.2']);
  assert.equal((await outbound({ resolve }).fetchJson(url, LIMIT)).kind, 'fetched');
  assert.deepEqual([times, asked.at(-1)?.at], [1, '127.0.0.1']);
});

test('draft-ietf-oauth-client-id-metadata-document §8.6, SSRF: an installation on loopback asks loopback, and nothing else', async () => {
  answer = (_request, response) => json(response, {});
  const local = (resolve: () => Promise<string[]>) =>
    new Outbound(
      { isLocal: true, privateNetworks: new BlockList() },
      { resolve, certificateAuthority: cert, now: Date.now },
    );
  assert.equal((await local(async () => ['127.0.0.1']).fetchJson(url, LIMIT)).kind, 'fetched');
  for (const address of ['93.184.216.34', '10.0.0.1'])
    assert.match(await refusal(local(async () => [address]).fetchJson(url, LIMIT)), /not on this machine/);
});

const REFUSED: Readonly<Record<string, [http.RequestListener, RegExp]>> = {
  'a redirect': [(_request, response) => void response.writeHead(302, { Location: url }).end(), /status is 302/],
  'another status': [(_request, response) => void response.writeHead(404).end(), /status is 404/],
  'no JSON by its type': [(_request, response) => json(response, {}, { 'Content-Type': 'text/html' }), /Content-Type/],
  'no JSON': [
    (_request, response) => void response.writeHead(200, { 'Content-Type': 'application/json' }).end('canary{'),
    /not JSON$/,
  ],
  'a compressed body': [
    (_request, response) =>
      void response
        .writeHead(200, { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' })
        .end(gzipSync(Buffer.alloc(10_000_000))),
    /compressed/,
  ],
  'five megabytes': [(_request, response) => json(response, 'x'.repeat(5_000_000)), /larger than 5120 bytes/],
  'one byte too many': [(_request, response) => json(response, 'x'.repeat(LIMIT - 1)), /larger than 5120 bytes/],
  'many bytes in few characters': [(_request, response) => json(response, '🗝'.repeat(2000)), /larger than 5120 bytes/],
};

for (const [name, [answering, sentence]] of Object.entries(REFUSED))
  test(`draft-ietf-oauth-client-id-metadata-document §5, hostile documents: ${name} is refused in one sentence, which quotes nothing of it`, async () => {
    answer = answering;
    const problem = await refusal(outbound().fetchJson(url, LIMIT));
    assert.match(problem, sentence);
    assert.ok(!problem.includes('canary'));
  });

test('hostile documents: a certificate of another name is refused, and a name that is not known', async () => {
  const elsewhere = `https://other.example:${port}/client.json`;
  assert.match(await refusal(outbound().fetchJson(elsewhere, LIMIT)), /certificate is for client\.example/);
  const resolve = async () => Promise.reject(new Error('ENOTFOUND'));
  assert.match(await refusal(outbound({ resolve }).fetchJson(url, LIMIT)), /unknown here/);
});

test('a document at the limit is fetched', async () => {
  answer = (_request, response) => json(response, 'x'.repeat(LIMIT - 2));
  assert.equal((await outbound().fetchJson(url, LIMIT)).kind, 'fetched');
});

test('hostile documents: one that never ends its answer, never begins it, or has a name that is never found is given up after 10 seconds in all', async (t) => {
  answer = ({ url }, response) => {
    if (url === '/silent') return;
    response.writeHead(200, { 'Content-Type': 'application/json' });
    const drip = setInterval(() => response.write(' '), 200);
    t.after(() => clearInterval(drip));
  };
  const nowhere = outbound({ resolve: () => new Promise(() => {}) });
  const problems = await Promise.all([
    refusal(outbound().fetchJson(url, LIMIT)),
    refusal(outbound().fetchJson(new URL('/silent', url).href, LIMIT)),
    refusal(nowhere.fetchJson(url, LIMIT)),
  ]);
  for (const problem of problems) assert.equal(problem, 'no answer within 10 s');
});

test('draft-ietf-oauth-client-id-metadata-document §8.7, hostile documents: of one without end no more is read than the limit, and the connection is closed', async () => {
  let written = 0;
  const closed = Promise.withResolvers<void>();
  answer = (_request, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' });
    const chunk = 'x'.repeat(65_536);
    const more = () => {
      while (!response.destroyed && response.write(chunk)) written += chunk.length;
    };
    response.on('drain', more).on('close', closed.resolve);
    more();
  };
  assert.match(await refusal(outbound().fetchJson(url, LIMIT)), /larger than 5120 bytes/);
  await closed.promise;
  assert.ok(written < 50_000_000, `${written} bytes: what the kernel takes, and no more`);
});

test('draft-ietf-oauth-client-id-metadata-document §4: a document with a more specific type of JSON is fetched', async () => {
  answer = (_request, response) => json(response, {}, { 'Content-Type': 'application/client+json; charset=utf-8' });
  assert.equal((await outbound().fetchJson(url, LIMIT)).kind, 'fetched');
});

test('hostile documents: an answer that changes the protocol is given up at once', async () => {
  answer = (_request, response) => response.writeHead(101, { Connection: 'Upgrade', Upgrade: 'other' }).end();
  const late = setTimeout(() => {}, 20_000);
  const said = await Promise.race([
    refusal(outbound().fetchJson(url, LIMIT)),
    new Promise((resolve) => setTimeout(resolve, 15_000, 'nothing').unref()),
  ]);
  clearTimeout(late);
  assert.match(String(said), /changes the protocol/);
});

test('SSRF: an address of one link alone is refused, and nothing is asked', async () => {
  const before = asked.length;
  const scoped = outbound({ resolve: async () => ['fe80::1%eth0'] });
  assert.match(await refusal(scoped.fetchJson(url, LIMIT)), /not public/);
  assert.equal(asked.length, before);
});
