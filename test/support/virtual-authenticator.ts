/** Passkeys in the real Chromium: an authenticator of the DevTools protocol, whose user always verifies. */
import type { CDPSession, Page } from 'playwright-core';

type Passkeys = Awaited<ReturnType<typeof credentialsOf>>;

/** One authenticator of a page. */
export type VirtualAuthenticator = {
  /** Number of passkeys in it. */
  count(): Promise<number>;
  /** The passkeys in it, with their private keys; `add` puts some of another one in, as a maker's cloud does. */
  passkeys(): Promise<Passkeys>;
  add(passkeys: Passkeys): Promise<void>;
  /** False: its user cancels, or fails to verify, from now on. */
  verify(isVerified: boolean): Promise<void>;
};

/** Gives a page an authenticator that is built in, and keeps discoverable passkeys. */
export async function addAuthenticator(
  page: Page,
  transport: 'internal' | 'usb' = 'internal',
): Promise<VirtualAuthenticator> {
  const session: CDPSession = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable');
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport,
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return {
    count: async () => (await credentialsOf(session, authenticatorId)).length,
    passkeys: () => credentialsOf(session, authenticatorId),
    add: async (passkeys) => {
      for (const credential of passkeys) await session.send('WebAuthn.addCredential', { authenticatorId, credential });
    },
    verify: async (isUserVerified) =>
      void (await session.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified })),
  };
}

async function credentialsOf(session: CDPSession, authenticatorId: string) {
  return (await session.send('WebAuthn.getCredentials', { authenticatorId })).credentials;
}
