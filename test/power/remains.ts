/** What a power cut left: laid out in a folder, opened as the program does, and looked at as a whole. */
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createKeyring } from '../../src/oauth/keys/keyring.ts';
import { loadRootKeys } from '../../src/settings/root-keys.ts';
import { openSqlite } from '../../src/storage/sqlite/open.ts';
import { memory } from '../support/memory.ts';
import type { Lifetime } from '../support/service.ts';
import { type Contents, layOut } from './disk.ts';
import type { Holdings } from './judge.ts';
import { oddRows } from './rows.ts';

const ALL = 1_000_000;

/** Makes a folder that is removed after the test: in memory, where there is room, since nothing there needs to be synced. */
export function folderInMemory(t: Lifetime): string {
  const folder = mkdtempSync(join(memory() ?? tmpdir(), 'valetkey-test-'));
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/** A folder in which what a disk held is laid out, each time anew. */
export class Remains {
  readonly #data: string;

  constructor(t: Lifetime) {
    this.#data = join(folderInMemory(t), 'data');
  }

  /** The variables with which the program finds what was laid out. */
  get variables(): Record<string, string> {
    return { VALETKEY_DATABASE_URL: `sqlite:${this.#path}`, VALETKEY_KEYS_FILE: this.#keysFile };
  }

  /** Lays out what a disk held. */
  layOut(contents: Contents): void {
    layOut(this.#data, contents);
  }

  /** Opens it, looks at every page and reference, and answers what it holds. Throws when anything is wrong with it. */
  async open(now: number): Promise<Holdings> {
    const path = this.#path;
    const isNew = !existsSync(path) || statSync(path).size === 0;
    const place = { keys: null, keysFile: this.#keysFile, database: { kind: 'file', path } as const };
    const keyring = createKeyring(loadRootKeys(place, isNew));
    const how = { role: 'service', durability: 'awaited', migrate: true, files: UNSYNCED } as const;
    const opened = await openSqlite({
      settings: { tokenPrefix: 'vk', shared: {} },
      refuseNew: null,
      path,
      keyring,
      now: () => now,
      onFailure: giveUp,
      report: giveUp,
      ...how,
    });
    try {
      const wrong = [...(await opened.check()).filter(({ ok }) => !ok), ...oddRows(path)];
      if (wrong.length > 0) throw new Error(JSON.stringify(wrong));
      const grants = await opened.store.listGrants({ limit: ALL });
      return {
        keyring,
        grants,
        clients: await opened.store.listClients(null, ALL),
        accounts: await opened.store.listAccounts(null, ALL),
      };
    } finally {
      await opened.close();
    }
  }

  get #path(): string {
    return join(this.#data, 'valetkey.db');
  }

  get #keysFile(): string {
    return join(this.#data, 'keys');
  }
}

function giveUp(error: Error | string): never {
  throw error;
}

const UNSYNCED = { fdatasync: async () => {}, fsync: async () => {} };
