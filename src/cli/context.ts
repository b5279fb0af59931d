/** What the commands are handed: they decide nothing, and know the domain but not how it is stored or served. */
import type { Accounts } from '../accounts/accounts.ts';
import type { Actor } from '../oauth/audit.ts';
import type { GrantRegistry } from '../oauth/grant-registry.ts';
import type { AuditStore } from '../oauth/store.ts';
import type { ClientRegistry } from '../operator/client-registry.ts';
import type { ResourceServerRegistry } from '../operator/resource-server-registry.ts';
import type { ScopeRegistry } from '../operator/scope-registry.ts';

/** The addresses of one face that an app is given beside its id and secret. */
export type FaceEndpoints = {
  readonly authorizationUrl: string;
  readonly accessTokenRequestUrl: string;
  readonly refreshTokenRequestUrl: string;
};

/** The addresses that developers are given: those of both faces, and what only the standard one has. */
export type Endpoints = Readonly<Record<'published' | 'standard', FaceEndpoints>> & {
  /** `{app_url}`: what an OAuth library is told, and finds the rest by (RFC 8414 §2). */
  readonly issuer: string;
  readonly metadataUrl: string;
  readonly deviceAuthorizationUrl: string;
  readonly introspectionUrl: string;
  readonly revocationStreamUrl: string;
};

/** The opened installation, for one command. */
export type Installation = {
  readonly clients: ClientRegistry;
  readonly resourceServers: ResourceServerRegistry;
  readonly scopes: ScopeRegistry;
  readonly accounts: Accounts;
  readonly grants: GrantRegistry;
  readonly audit: Pick<AuditStore, 'listAuditEvents'>;
  /** In whose name the command acts. */
  readonly operator: Actor;
  readonly endpoints: Endpoints;
  close(): Promise<void>;
};

/** One thing that was looked at, and what was found. */
export type CheckResult = { readonly name: string; readonly ok: boolean; readonly detail: string };

/** A variable, what was recorded of it, and what it is here. */
export type ChangedSetting = { readonly variable: string; readonly recorded: string; readonly own: string };

/** How far a copy of a database is: so many rows of all are copied, or compared. */
export type CopyProgress = { readonly step: 'copying' | 'comparing'; readonly rows: number; readonly of: number };

/** What a copy came to; `tables` is null when it was finished before. The places are addresses without a password. */
export type CopyOutcome = {
  readonly from: string;
  readonly to: string;
  /** What both sides hold: `sha256` is over all rows of a table. */
  readonly tables: readonly { readonly table: string; readonly rows: number; readonly sha256: string }[] | null;
};

/** The world of one run of the program. `now` answers ms since the epoch. */
export type CommandContext = {
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly stdout: NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: NodeJS.WritableStream & { readonly isTTY?: boolean };
  readonly now: () => number;
  /**
   * Opens the installation; never called for `--help` or a wrong command line. Only with `mayCreate` is a new one made
   * where there is none: a question asked in the wrong place must not answer that all is well and empty.
   */
  readonly open: (mayCreate: boolean) => Promise<Installation>;
  /** Serves until it is told to stop, and answers the exit code. */
  readonly serve: (options: { readonly json: boolean }) => Promise<number>;
  /** Runs the demo, and answers the exit code. */
  readonly demo: (options: { readonly headless: boolean; readonly json: boolean }) => Promise<number>;
  readonly database: {
    /** Brings the database up to date, and answers the names of the migrations that it applied. */
    migrate(): Promise<{ readonly applied: readonly string[] }>;
    check(): Promise<readonly CheckResult[]>;
    /** Records how this process is set as what all instances have to agree on, and answers what was recorded otherwise. */
    adoptSettings(): Promise<readonly ChangedSetting[]>;
    /** Copies an installation from one database to another, both named as in the configuration. */
    copy(from: string, to: string, report: (progress: CopyProgress) => void): Promise<CopyOutcome>;
  };
  readonly keys: {
    /** Makes a root key; with a file, writes it there. */
    generate(file: string | null): Promise<{ readonly key: string; readonly file: string | null }>;
  };
};
