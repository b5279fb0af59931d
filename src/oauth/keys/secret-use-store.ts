/** The port to where last uses of secrets are kept. Rules are as for every port (`oauth/store.ts`). */
import type { UseMark } from './secret.ts';

/** Last uses of secrets of clients, resource servers and identity providers, of clients' keys, and of clients as such. */
export type SecretUseStore = {
  /**
   * Notes that a secret proved somebody at a time (ms). It is written later, in batches; a crash loses at most the last second,
   * and a use soon after a noted one (`SECRET_USE_IS_NEWS_AFTER_MS`) is not noted.
   */
  noteSecretUse(secret: UseMark, usedAt: number): void;
  /** When it was last used (ms); null when it never was. */
  findSecretUse(secret: UseMark): Promise<number | null>;
};
