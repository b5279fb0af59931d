/** What `database check` looks at. */
import type { DatabaseSync } from 'node:sqlite';
import type { Keyring } from '../../oauth/keyring.ts';
import {
  differences,
  type InstallationRecord,
  type InstallationSettings,
  toldDifferences,
} from '../installation-settings.ts';
import { type Pragmas, wrongPragmas } from './connection.ts';
import { recordOf, requireFittingKeys } from './installation.ts';
import { requireUpToDate } from './migrate.ts';

/** One thing that was looked at; `detail` says what is wrong, or what is right, in a few words. */
export type Finding = { readonly name: string; readonly ok: boolean; readonly detail: string };

/** What a database is compared with: this process's keys and settings, and what its connection must be set to. */
export type Expected = {
  readonly keyring: Keyring;
  readonly settings: InstallationSettings;
  readonly pragmas: Pragmas;
};

/** Looks at the settings, at every page and reference, at the keys, the record and the migrations. Takes long on a large database. */
export function check(database: DatabaseSync, { keyring, settings, pragmas }: Expected): Finding[] {
  return [
    finding('settings', () => wrongPragmas(database, pragmas)),
    finding('integrity', () => texts(database, 'integrity_check').filter((text) => text !== 'ok')),
    finding('references', () => texts(database, 'foreign_key_check')),
    finding('keys', () => {
      requireFittingKeys(database, keyring);
      return [];
    }),
    finding('variables', () => toldDifferences(differences(recordOf(database) as InstallationRecord, settings))),
    finding('migrations', () => {
      requireUpToDate(database);
      return [];
    }),
  ];
}

function finding(name: string, problems: () => readonly string[]): Finding {
  try {
    const found = problems();
    return { name, ok: found.length === 0, detail: found.slice(0, 10).join('; ') || 'as it must be' };
  } catch (error) {
    return { name, ok: false, detail: (error as Error).message };
  }
}

function texts(database: DatabaseSync, pragma: string): string[] {
  return database
    .prepare(`PRAGMA ${pragma}`)
    .all()
    .map((row) => Object.values(row).join(' '));
}
