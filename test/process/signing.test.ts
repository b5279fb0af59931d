import assert from 'node:assert/strict';
import { generateKeyPairSync, verify } from 'node:crypto';
import { test } from 'node:test';
import { SigningThread } from '../../src/process/signing.ts';

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

test('RFC 7518 §3.3: each text gets its own signature, however many are signed at once', async (t) => {
  const thread = new SigningThread(assert.fail);
  t.after(() => thread.close());
  const texts = Array.from({ length: 100 }, (_, number) => `text ${number}`);
  const signatures = await Promise.all(texts.map((text) => thread.sign(text, privateKey)));
  for (const [at, text] of texts.entries())
    assert.ok(verify('RSA-SHA256', Buffer.from(text), publicKey, Buffer.from(String(signatures[at]), 'base64url')));
});

test('the queue is bounded: what is too much is refused at once, and the rest is signed', async (t) => {
  const thread = new SigningThread(assert.fail);
  t.after(() => thread.close());
  const all = await Promise.all(Array.from({ length: 300 }, () => thread.sign('a text', privateKey)));
  assert.equal(all.filter((signature) => signature === null).length, 300 - 256);
  assert.equal(typeof (await thread.sign('later', privateKey)), 'string');
});

test('a thread that ended refuses what waits, and the next text gets another one', async (t) => {
  const thread = new SigningThread(assert.fail);
  t.after(() => thread.close());
  await thread.sign('a text', privateKey);
  const waiting = thread.sign('a text', privateKey);
  await thread.close();
  assert.equal(typeof (await thread.sign('later', privateKey)), 'string');
  assert.ok([null, 'string'].includes((await waiting) && typeof (await waiting)));
});

test('a thread that cannot begin refuses its text, and no later text gets the signature of another', async (t) => {
  const reports: string[] = [];
  const thread = new SigningThread((sentence) => reports.push(sentence));
  t.after(() => thread.close());
  const begin = t.mock.method(process, 'getBuiltinModule', () => {
    throw new Error('Worker initialization failure: EAGAIN');
  });
  assert.equal(await thread.sign('too early', privateKey), null);
  assert.equal(reports.length, 1);
  begin.mock.restore();
  for (const text of ['one', 'two']) {
    const signature = Buffer.from(String(await thread.sign(text, privateKey)), 'base64url');
    assert.ok(verify('RSA-SHA256', Buffer.from(text), publicKey, signature), text);
  }
});
