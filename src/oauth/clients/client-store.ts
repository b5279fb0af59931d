/** The port to the store of clients. Rules are as for every port (`oauth/store.ts`). */
import type { SpansSince } from '../activity/app-tally.ts';
import type { StoredSecret } from '../keys/secret.ts';
import type { AuditEvent } from '../trail/audit.ts';
import type { Client } from './client.ts';
import type { AssertionUse, UsedAssertion } from './client-assertion.ts';

/** A client by its id, with the address where its keys are. */
export type PublishedKeys = { readonly id: string; readonly jwksUri: string };

/** Clients to list: all, or those that match each condition. */
export type ClientsAsked = {
  readonly id?: string | undefined;
  /** A text anywhere in their name, as people read both (`nameKey`). */
  readonly name?: string | undefined;
  /** A text anywhere in their name or their publisher's, likewise. */
  readonly text?: string | undefined;
  /** Their whole name or their publisher's, likewise. */
  readonly exactly?: string | undefined;
  readonly status?: Client['status'] | undefined;
  /** Spans, in one of which they have a failure. */
  readonly failing?: SpansSince | undefined;
};

/** An order of clients: by age, or by name as people read it, and by id. */
export type ClientOrder = 'oldest' | 'newest' | 'name';

/** A client, and the number of its failures. */
export type ClientFailures = { readonly client: Client; readonly failures: number };

/** The place of a client in such an order. */
export type ClientPlace = Pick<Client, 'id' | 'createdAt' | 'name'>;

/** The place of a client among those that fail. */
export type FailingPlace = Pick<Client, 'id'> & Pick<ClientFailures, 'failures'>;

/** Clients. Every change is seen by the next request. */
export type ClientStore = {
  findClient(id: string): Promise<Client | null>;
  /** Finds the client of a live secret, by the secret's digest. */
  findClientBySecret(digest: Buffer): Promise<Client | null>;
  /** Returns true if a client exists. */
  hasClients(): Promise<boolean>;
  /** Tells whether the id of an active client is the address of a metadata document. */
  hasDocumentClient(): Promise<boolean>;
  /** True if a client has sign-in, be it active or paused. */
  hasSignInClient(): Promise<boolean>;
  /** The next clients after one (null: from the first), oldest first, at most `limit`: all, or those that are asked for. */
  listClients(
    after: ClientPlace | null,
    limit: number,
    asked?: ClientsAsked & { readonly order?: ClientOrder },
  ): Promise<Client[]>;
  /** The number of clients that are asked for, counted to `limit`. */
  countClients(asked: ClientsAsked, limit: number): Promise<number>;
  /**
   * The next clients with failures in the days that end after `since` (ms), after a place (null: from the first), at most `limit`:
   * most failures first, and by id.
   */
  listFailing(
    after: FailingPlace | null,
    limit: number,
    since: number,
    asked?: ClientsAsked,
  ): Promise<ClientFailures[]>;
  /** Clients whose names look like this one to people (`nameKey`), at most `limit`: the very name first, then the oldest. */
  listClientsNamed(name: string, limit: number): Promise<Client[]>;
  /** The default resources of all clients, each spelling once, unordered. */
  listDefaultResources(): Promise<string[]>;
  /** Registers a client; false when its id is taken. */
  registerClient(client: Client, event: AuditEvent): Promise<boolean>;
  /**
   * Writes the operator's settings, if they are still as `expected`; false if another write was faster or the client is
   * deleted.
   */
  updateClient(client: Client, expected: Client, event: AuditEvent): Promise<boolean>;
  /**
   * Writes the settings that come from a client's metadata document, the time from which consent is remembered, and the
   * operator's vouching, if the settings are still as `expected`. False if another write was faster or the client is deleted.
   * A concurrent Allow by remembered consent checks that time in its own write.
   */
  refreshClient(client: Client, expected: Client, event: AuditEvent): Promise<boolean>;
  /** Replaces the secrets if the client still proves itself as `expected`: by secrets, keys or neither; false otherwise. */
  replaceClientSecrets(expected: Client, secrets: readonly StoredSecret[], event: AuditEvent): Promise<boolean>;
  /** Pauses, or resumes as of the event's time; false if the client is deleted or already in that state. */
  setClientStatus(id: string, status: Client['status'], event: AuditEvent): Promise<boolean>;
  /** Ends every grant of a client by raising its epoch; false if the client is deleted. */
  revokeClientGrants(id: string, event: AuditEvent): Promise<boolean>;
  /** Deletes a client, and all its grants with it; false when it is gone. */
  deleteClient(id: string, event: AuditEvent): Promise<boolean>;
  /**
   * Records a fetch of a client's keys at a time (ms), unless another one is less than `pause` (ms) away: at most one caller
   * gets `true`. Also false if the client is not active, or its keys moved to another address.
   */
  noteKeysAsked(client: PublishedKeys, at: number, pause: number): Promise<boolean>;
  /**
   * Replaces a client's published keys with those fetched at a time (ms). False if that fetch was not recorded, a later one
   * was, the keys differ from those of `client`, or the client is not active or moved its keys. The event is null if the keys
   * did not change.
   */
  refreshClientKeys(
    client: PublishedKeys & Pick<Client, 'keys'>,
    keys: Client['keys'],
    askedAt: number,
    event: AuditEvent | null,
  ): Promise<boolean>;
  /**
   * Marks a client assertion as used. At most one caller ever gets `first` while the assertion is valid, even if a clock steps
   * back by up to a day. A client never has more than `most` marks.
   */
  useClientAssertion(assertion: UsedAssertion, most: number): Promise<AssertionUse>;
};
