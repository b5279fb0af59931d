/** Answers as bytes: nothing that a header holds becomes another header, or another answer. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DirectReply } from '../../../src/http/connection/direct-reply.ts';

for (const value of ['a\r\nSet-Cookie: b=c', 'a\nb', 'a\rb', 'a\0b', 'é'])
  test(`RFC 9112 §11.1: a header with ${JSON.stringify(value)} is not sent`, () => {
    const sent: string[] = [];
    const reply = new DirectReply('id', (_status, headers) => void sent.push(headers));
    assert.throws(() => reply.header('X', value).send({}), /the header X cannot be sent/);
    assert.throws(() => reply.headers({ X: value }).send({}), /the header X cannot be sent/);
    assert.deepEqual(sent, []);
    reply.header('X', 'as it is').send({});
    assert.deepEqual(sent, ['X-Request-Id: id\r\nX: as it is\r\n']);
  });
