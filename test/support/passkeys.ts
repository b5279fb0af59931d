/** An authenticator in a few lines, for what a real browser never does: answers to another origin, replays, counters that go back. */
import {
  createPrivateKey,
  generateKeyPairSync,
  hash,
  type JsonWebKey,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto';
import type { Visit } from './browser.ts';

/** What an answer says other than a good one would. */
export type Tampered = {
  origin?: string;
  rpId?: string;
  challenge?: string;
  type?: string;
  crossOrigin?: boolean;
  counter?: number;
  /** Flags to take out of the authenticator's data: 1 presence, 4 verification. */
  without?: number;
  userHandle?: string | null;
  transports?: unknown;
  /** Breaks the signature. */
  isForged?: boolean;
};

const [PRESENT, VERIFIED, CAN_BE_BACKED_UP, IS_BACKED_UP, ATTESTED] = [1, 4, 8, 16, 64];

/** The options in a page's form, and the challenge in them. */
export function ceremonyIn({
  body,
}: Visit): { challenge: string; rpId: string; user?: { id: string } } & Record<string, unknown> {
  const [, options] = /data-options="([^"]*)"/.exec(body) ?? [];
  if (options === undefined) throw new Error(`the page has no ceremony: ${body.slice(0, 2000)}`);
  const read = JSON.parse(options.replaceAll('&quot;', '"').replaceAll('&amp;', '&'));
  return { ...read, rpId: read.rpId ?? read.rp.id };
}

/** A passkey that can be kept: its private key as a JSON Web Key. */
export type KeptPasskey = {
  readonly id: string;
  readonly key: JsonWebKey;
  readonly userHandle: string;
};

function newPasskey(): KeptPasskey {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { id: randomBytes(16).toString('base64url'), key: privateKey.export({ format: 'jwk' }), userHandle: '' };
}

/** One passkey, with its private key. */
export class SoftPasskey {
  readonly id: string;
  readonly origin: string;
  counter = 0;
  isBackedUp = false;
  readonly #key: KeyObject;
  readonly #point: { x: string; y: string };
  #userHandle: string;

  constructor(origin: string, { id, key, userHandle }: KeptPasskey = newPasskey()) {
    this.id = id;
    this.origin = origin;
    this.#key = createPrivateKey({ key, format: 'jwk' });
    this.#point = key as { x: string; y: string };
    this.#userHandle = userHandle;
  }

  /** The passkey, for `new SoftPasskey` of another time. */
  kept(): KeptPasskey {
    return { id: this.id, key: this.#key.export({ format: 'jwk' }), userHandle: this.#userHandle };
  }

  /** The answer that makes the passkey at a page. */
  create(page: Visit, tampered: Tampered = {}): string {
    const { user } = ceremonyIn(page);
    this.#userHandle = user?.id ?? '';
    const { clientData, head } = this.#begin(page, 'webauthn.create', tampered, ATTESTED);
    const id = Buffer.from(this.id, 'base64url');
    const cose = [
      Buffer.from('a5010203262001215820', 'hex'),
      Buffer.from(this.#point.x, 'base64url'),
      Buffer.from('225820', 'hex'),
      Buffer.from(this.#point.y, 'base64url'),
    ];
    const length = Buffer.from([0, id.length]);
    const data = Buffer.concat([head, Buffer.alloc(16), length, id, ...cose]);
    const size = Buffer.from([0x59, data.length >> 8, data.length & 255]);
    const attestation = Buffer.concat([
      Buffer.from('a363666d74646e6f6e656761747453746d74a0686175746844617461', 'hex'),
      size,
      data,
    ]);
    return this.#answer({
      clientDataJSON: clientData.toString('base64url'),
      attestationObject: attestation.toString('base64url'),
      transports: tampered.transports ?? ['internal'],
    });
  }

  /** The answer that uses the passkey at a page. */
  get(page: Visit, tampered: Tampered = {}): string {
    const { clientData, head } = this.#begin(page, 'webauthn.get', tampered, 0);
    const signature = sign('sha256', Buffer.concat([head, hash('sha256', clientData, 'buffer')]), this.#key);
    if (tampered.isForged) signature.writeUInt8(signature.readUInt8(signature.length - 1) ^ 1, signature.length - 1);
    const { userHandle = this.#userHandle } = tampered;
    return this.#answer({
      clientDataJSON: clientData.toString('base64url'),
      authenticatorData: head.toString('base64url'),
      signature: signature.toString('base64url'),
      ...(userHandle !== null && { userHandle }),
    });
  }

  #begin(page: Visit, type: string, tampered: Tampered, flags: number) {
    const { challenge, rpId } = ceremonyIn(page);
    const clientData = Buffer.from(
      JSON.stringify({
        type: tampered.type ?? type,
        challenge: tampered.challenge ?? challenge,
        origin: tampered.origin ?? this.origin,
        crossOrigin: tampered.crossOrigin ?? false,
      }),
    );
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(tampered.counter ?? this.counter);
    const backup = CAN_BE_BACKED_UP | (this.isBackedUp ? IS_BACKED_UP : 0);
    const all = (PRESENT | VERIFIED | backup | flags) & ~(tampered.without ?? 0);
    const head = Buffer.concat([hash('sha256', tampered.rpId ?? rpId, 'buffer'), Buffer.from([all]), counter]);
    return { clientData, head };
  }

  #answer(response: object): string {
    const { id } = this;
    return JSON.stringify({ id, rawId: id, type: 'public-key', clientExtensionResults: {}, response });
  }
}
