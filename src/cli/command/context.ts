/** The objects that commands get. They decide nothing, and know the domain but not how it is stored or served. */
import type { UserImport } from '../../accounts/import/user-import.ts';
import type { UserLinks } from '../../accounts/import/user-links.ts';
import type { Accounts } from '../../accounts/sign-in/accounts.ts';
import type { BackupAsked, BackupMade } from '../../backup/backup.ts';
import type { GrantRegistry } from '../../oauth/connected-apps/grant-registry.ts';
import type { Revived } from '../../oauth/installation/since-backup.ts';
import type { SigningKeys } from '../../oauth/openid/signing-keys.ts';
import type { Actor } from '../../oauth/trail/audit.ts';
import type { Checkpoint } from '../../oauth/trail/audit-checkpoint.ts';
import type { AuditStore } from '../../oauth/trail/audit-store.ts';
import type { OperatorRegistry } from '../../operator/access/operators.ts';
import type { ClientDocuments } from '../../operator/apps/client-documents.ts';
import type { ReadTrail } from '../../operator/installation/backups.ts';
import type { OperatorDomain } from '../../operator/installation/operator-domain.ts';
import type { ScanRule } from '../../operator/leaks/scan-rules.ts';
import type { KeyRegistry, KeyRotation } from '../../operator/root-keys/key-registry.ts';
import type { AuditTrail } from '../../operator/trail/audit-trail.ts';
import type { Caller } from './caller.ts';

/** The opened installation, for one command. */
export type Installation = OperatorDomain & {
  readonly clientDocuments: ClientDocuments;
  readonly operatorRegistry: OperatorRegistry;
  readonly rootKeys: KeyRegistry;
  readonly signingKeys: SigningKeys;
  readonly accounts: Accounts;
  readonly imports: UserImport;
  readonly links: UserLinks;
  readonly grants: GrantRegistry;
  readonly audit: Pick<AuditStore, 'listNamedAuditEvents'>;
  readonly auditTrail: AuditTrail;
  /** The actor of what the command does. */
  readonly operator: Actor;
  close(): Promise<void>;
};

/** One check, and what it found. */
export type CheckResult = {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
  readonly isWarning?: boolean;
};

/** One thing that the doctor looked at; `remedy` says what to do. */
export type DoctorFinding = {
  readonly area: string;
  readonly name: string;
  readonly verdict: 'ok' | 'warning' | 'wrong';
  readonly detail: string;
  readonly remedy: string | null;
};

/** A variable, its recorded value, and its value in this process. */
export type ChangedSetting = { readonly variable: string; readonly recorded: string; readonly own: string };

/** How far a copy of a database is: `rows` of `of` are copied, or compared. */
export type CopyProgress = { readonly step: 'copying' | 'comparing'; readonly rows: number; readonly of: number };

/** The result of a copy; `tables` is null if it was finished before. The addresses are without a password. */
export type CopyOutcome = {
  readonly from: string;
  readonly to: string;
  /** The tables that both sides have in common: `sha256` is over all rows of a table. */
  readonly tables: readonly { readonly table: string; readonly rows: number; readonly sha256: string }[] | null;
};

/** The options of a restore. */
export type RestoreAsked = {
  /** Null where the database was put in place by other means. */
  readonly file: string | null;
  readonly keepTokens: boolean;
  /** The file of the newer audit trail, or null. */
  readonly audit: string | null;
  /** Checkpoints to compare with, and whether the trail is accepted although it differs from its record. */
  readonly checkpoints: readonly Checkpoint[];
  readonly acceptTrail: boolean;
  readonly endRevived: boolean;
};

/** The result of a restore. */
export type Restored = {
  /** When the backup was made (ms); null where it does not say so. */
  readonly madeAt: number | null;
  readonly keptGrants: boolean;
  /** The file in which the earlier database is kept; null if there was none. */
  readonly kept: string | null;
  /** Revived things, as far as a trail tells, and whether they were ended again. */
  readonly revived: readonly Revived[];
  readonly hasEndedRevived: boolean;
  /** The root key that the database issues with, where a newer one is among the keys and not in use; else null. */
  readonly earlierKey: { readonly keyId: number; readonly newer: number } | null;
  /** The result of reading the newer trail; null without one. */
  readonly trail: ReadTrail | null;
};

/** The parts of its process that one run of the program gets. `now` returns ms since the epoch. */
export type CommandContext = {
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly stdout: NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: NodeJS.WritableStream & { readonly isTTY?: boolean };
  readonly now: () => number;
  readonly caller: Caller;
  /**
   * Opens the installation; never called for `--help` or a wrong command line. Makes a new one only with `mayCreate`: a
   * command in the wrong folder must not report that all is well and empty.
   */
  readonly open: (mayCreate: boolean) => Promise<Installation>;
  /** Serves until a signal stops it, and returns the exit code. */
  readonly serve: (options: { readonly json: boolean }) => Promise<number>;
  /** Runs the demo, and returns the exit code. */
  readonly demo: (options: {
    readonly headless: boolean;
    readonly product: boolean;
    readonly operator: boolean;
    readonly json: boolean;
  }) => Promise<number>;
  readonly database: {
    /** Brings the database up to date, and returns the names of the applied migrations. */
    migrate(): Promise<{ readonly applied: readonly string[] }>;
    check(): Promise<readonly CheckResult[]>;
    /** Records this process's settings as those of all instances, and returns the ones that were recorded otherwise. */
    adoptSettings(): Promise<readonly ChangedSetting[]>;
    /** Makes a backup while the service runs; `grows` gets the growth of its log in bytes, again and again. */
    backUp(asked: BackupAsked, grows: (bytes: number) => void): Promise<BackupMade>;
    /** Notes that a backup was made by other means, and returns when (ms). */
    noteBackup(): Promise<number>;
    /**
     * Replaces the database with a backup, or treats it as restored, and ends everything that must not come back. `confirm` is
     * called before any change, once the backup or the database was found.
     */
    restore(asked: RestoreAsked, confirm: () => Promise<void>): Promise<Restored>;
    /** Copies an installation from one database to another, both named as in the configuration. */
    copy(from: string, to: string, report: (progress: CopyProgress) => void): Promise<CopyOutcome>;
  };
  /** Looks at the installation, and changes nothing. */
  readonly doctor: () => Promise<readonly DoctorFinding[]>;
  /** The rules for scanners of secrets; nothing is opened for them. */
  readonly scanRules: () => ScanRule[];
  readonly keys: {
    /** Makes a root key; with a file, writes it there. */
    generate(file: string | null): Promise<{ readonly key: string; readonly file: string | null }>;
    /** Adds a root key where none waits, and has it take over; `tell` gets the names of the instances that lack it. */
    rotate(tell: (names: readonly string[]) => void): Promise<KeyRotation & { readonly file: string | null }>;
    /**
     * Retires a root key, ends the grants that depend on it if requested, and removes it from the keys file. Refused if the
     * audit trail fails its verification, unless that is accepted. `confirm` is called before any change, once the key was
     * found and may be retired some time.
     */
    retire(
      keyId: number,
      options: { readonly endGrants: boolean; readonly acceptTrail: boolean },
      confirm: () => Promise<void>,
    ): Promise<{ readonly ended: number; readonly isRemoved: boolean }>;
  };
};
