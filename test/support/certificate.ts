/** A certificate for this machine, made here: X.509 (RFC 5280) in the few parts that TLS asks for. */
import { generateKeyPairSync, randomUUID, sign } from 'node:crypto';

/** A key and its certificate, in PEM, and the DER of whom it is of. */
export type TestCertificate = { readonly key: string; readonly cert: string; readonly subject: Buffer };

/**
 * Makes a certificate for a host and 127.0.0.1, good from a day before `now` for so many ms from `now`; self-signed, or by an
 * authority.
 */
export function makeCertificate(
  now: number,
  lifetime: number,
  { host = 'localhost', authority }: { host?: string; authority?: TestCertificate } = {},
): TestCertificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const ecdsaWithSha256 = sequence(bytes(0x06, '2a8648ce3d040302'));
  const name = sequence(set(sequence(bytes(0x06, '550403'), element(0x0c, Buffer.from(randomUUID())))));
  const time = (ms: number) => element(0x18, Buffer.from(`${new Date(ms).toISOString().replace(/[-:T]|\.\d+/g, '')}`));
  const names = sequence(element(0x82, Buffer.from(host)), element(0x87, Buffer.from([127, 0, 0, 1])));
  const alternative = sequence(bytes(0x06, '551d11'), element(0x04, names));
  const mayIssue = sequence(bytes(0x06, '551d13'), element(0x04, sequence(bytes(0x01, 'ff'))));
  const content = sequence(
    element(0xa0, bytes(0x02, '02')),
    bytes(0x02, '01'),
    ecdsaWithSha256,
    authority?.subject ?? name,
    sequence(time(now - 86_400_000), time(now + lifetime)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    element(0xa3, sequence(alternative, mayIssue)),
  );
  const signature = element(
    0x03,
    Buffer.concat([Buffer.from([0]), sign('sha256', content, authority?.key ?? privateKey)]),
  );
  const certificate = sequence(content, ecdsaWithSha256, signature).toString('base64');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${certificate}\n-----END CERTIFICATE-----\n`,
    subject: name,
  };
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return element(0x30, Buffer.concat(parts));
}

function set(part: Buffer): Buffer {
  return element(0x31, part);
}

function bytes(tag: number, hex: string): Buffer {
  return element(tag, Buffer.from(hex, 'hex'));
}

/** An element of DER (X.690 §8.1): tag, length, content. */
function element(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const head =
    length < 0x80 ? [tag, length] : length < 0x100 ? [tag, 0x81, length] : [tag, 0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from(head), content]);
}
