// The thread of `signing.ts`: answers each text with its signature.
import { type KeyObject, sign } from 'node:crypto';
import { parentPort } from 'node:worker_threads';

parentPort?.on('message', ({ text, key }: { readonly text: string; readonly key: KeyObject }) =>
  parentPort?.postMessage(sign('RSA-SHA256', Buffer.from(text), key).toString('base64url')),
);
