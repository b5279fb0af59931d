/** The port to where clients are kept. Rules are as for every port (`oauth/store.ts`). */
import type { StoredSecret } from '../keys/secret.ts';
import type { AuditEvent } from '../trail/audit.ts';
import type { Client } from './client.ts';
import type { AssertionUse, UsedAssertion } from './client-assertion.ts';

/** A client by its id, with the address where its keys are. */
export type PublishedKeys = { readonly id: string; readonly jwksUri: string };

/** Clients. Every change is seen by the next request. */
export type ClientStore = {
  findClient(id: string): Promise<Client | null>;
  /** Returns true if a client exists. */
  hasClients(): Promise<boolean>;
  /** Tells whether the id of an active client is the address of a metadata document. */
  hasDocumentClient(): Promise<boolean>;
  /** The next clients after one (null: from the first), oldest first, at most `limit`. */
  listClients(after: Pick<Client, 'id' | 'createdAt'> | null, limit: number): Promise<Client[]>;
  /** Clients whose names look like this one to people (`nameKey`), at most `limit`: the very name first, then the oldest. */
  listClientsNamed(name: string, limit: number): Promise<Client[]>;
  /** The next clients whose names begin as this one does to people (`nameKey`), by name, after one (null: from the first), at most `limit`. */
  listClientsBeginning(start: string, after: Pick<Client, 'id' | 'name'> | null, limit: number): Promise<Client[]>;
  /** The default resources that they have, each spelling once, in no order. */
  listDefaultResources(): Promise<string[]>;
  /** Registers a client; false when its id is taken. */
  registerClient(client: Client, event: AuditEvent): Promise<boolean>;
  /** Writes what an operator may change, if that is still as `expected`; false when somebody was faster or the client is gone. */
  updateClient(client: Client, expected: Client, event: AuditEvent): Promise<boolean>;
  /**
   * Writes what a metadata document owns of a client, if that is still as `expected`, also the time from which consent is
   * remembered and the operator's vouching; false when somebody was faster or the client is gone. Whoever remembers consent at
   * the same time looks at the time in the write of the grant.
   */
  refreshClient(client: Client, expected: Client, event: AuditEvent): Promise<boolean>;
  /** Replaces the secrets if the client still proves itself as `expected`: by secrets, keys or neither; false otherwise. */
  replaceClientSecrets(expected: Client, secrets: readonly StoredSecret[], event: AuditEvent): Promise<boolean>;
  /** Pauses, or resumes as of the event's time; false when the client is gone or was so already. */
  setClientStatus(id: string, status: Client['status'], event: AuditEvent): Promise<boolean>;
  /** Ends every grant of a client by raising its epoch; false when the client is gone. */
  revokeClientGrants(id: string, event: AuditEvent): Promise<boolean>;
  /** Deletes a client, and all its grants with it; false when it is gone. */
  deleteClient(id: string, event: AuditEvent): Promise<boolean>;
  /**
   * Notes that the keys of a client are asked for at a time (ms), unless they were less than `pause` before or after it (ms): of
   * all who try at most one gets `true`. False as well when the client is not active, or its keys are elsewhere.
   */
  noteKeysAsked(client: PublishedKeys, at: number, pause: number): Promise<boolean>;
  /**
   * Replaces the keys that a client publishes by those that were asked for at a time (ms). False when nobody noted that, somebody
   * asked since, the keys are not those of `client` any more, or the client is not active or has its keys elsewhere. The event
   * is null when the keys are as before.
   */
  refreshClientKeys(
    client: PublishedKeys & Pick<Client, 'keys'>,
    keys: Client['keys'],
    askedAt: number,
    event: AuditEvent | null,
  ): Promise<boolean>;
  /**
   * Marks a client assertion as used. Of all who try at most one ever gets `first`, as long as the assertion is good, also
   * after a clock stepped back by up to a day; and a client never has more than `most` marks.
   */
  useClientAssertion(assertion: UsedAssertion, most: number): Promise<AssertionUse>;
};
