/**
 * Clients that the operator admits by their metadata document (draft-ietf-oauth-client-id-metadata-document). No request of
 * anybody else fetches one, or registers a client.
 */

import { hash } from 'node:crypto';
import type { Client, ClientType } from '../../oauth/clients/client.ts';
import {
  type ClientDocument,
  documentAddressProblem,
  keyNote,
  MAX_DOCUMENT_BYTES,
  type ReadDocument,
  readClientDocument,
} from '../../oauth/clients/client-document.ts';
import type { ClientStore } from '../../oauth/clients/client-store.ts';
import { type FetchJson, fetchKeySet, NO_KEY } from '../../oauth/clients/key-set.ts';
import { OperatorError } from '../../oauth/error.ts';
import type { Actor } from '../../oauth/trail/audit.ts';
import { walkOldest } from '../lists/client-pages.ts';
import { everyPage } from '../lists/page.ts';
import { changeText } from '../trail/event-words.ts';
import { contactProblem, pageProblem } from './app-profile.ts';
import { type ClientRegistry, registeredAlready } from './client-registry.ts';
import type { NewClientSettings } from './client-settings.ts';
import { documentChanges, type RefreshedDocument, refreshedClient } from './document-refresh.ts';

/** Parts of the reading of documents. `isLocal`: http on loopback is good as well; `now` returns ms. */
export type ClientDocumentsParts = {
  readonly store: Pick<ClientStore, 'findClient' | 'listClients' | 'listClientsNamed'>;
  readonly clients: Pick<ClientRegistry, 'register' | 'refresh'>;
  readonly isLocal: boolean;
  readonly fetchJson: FetchJson;
  readonly now: () => number;
};

/**
 * A fetched document, with the keys at its `jwks_uri`: its supported members, notes on the others, its SHA-256 (hex), and the
 * start of the fetch (ms).
 */
export type FetchedClient = {
  readonly document: ClientDocument;
  readonly notes: readonly string[];
  /** Why keys are omitted, one sentence for each. */
  readonly omittedKeys: readonly string[];
  readonly sha256: string;
  readonly fetchedAt: number;
};

/** Settings that the operator adds to a document; a name, a page or a contact is in place of the document's. */
export type SaidBesideDocument = Omit<NewClientSettings, 'name' | 'redirectUris' | 'keys'> & {
  readonly name: string | undefined;
};

/** A document that was fetched again: its changes of the client, and notes on unapplied members. */
export type ComparedDocument = {
  readonly client: Client;
  readonly refreshed: RefreshedDocument;
  readonly notes: readonly string[];
  readonly omittedKeys: readonly string[];
  /** Each changed setting, as the audit trail tells it. */
  readonly changes: readonly string[];
  /** `true` if the document is other than at the last fetch, or read otherwise. */
  readonly differs: boolean;
  /** `true` if a refresh ends consent that is remembered. */
  readonly asksAgain: boolean;
};

/** Fetches metadata documents, registers clients from them, and takes over what changed. */
export class ClientDocuments {
  readonly #parts: ClientDocumentsParts;

  constructor(parts: ClientDocumentsParts) {
    this.#parts = parts;
  }

  /** Fetches the document of a new client, and changes nothing. Throws an `OperatorError` with one sentence on a refusal. */
  async fetch(address: string): Promise<FetchedClient> {
    const { store, isLocal } = this.#parts;
    const problem = documentAddressProblem(address, isLocal);
    if (problem)
      throw new OperatorError(
        `the address ${JSON.stringify(address)} cannot be that of a metadata document: ${problem}`,
      );
    if (await store.findClient(address)) throw registeredAlready(address);
    return this.#read(address);
  }

  /**
   * Fetches the document of a client again, and changes nothing. Throws an `OperatorError` with one sentence where the client has
   * none, or where it is refused.
   */
  async compare(client: Client): Promise<ComparedDocument> {
    const { id, name, documentSha256 } = client;
    if (documentSha256 === null)
      throw new OperatorError(`the app ${name} has no metadata document: change its registration with "client update"`);
    const fetched = await this.#read(id);
    const { document, omittedKeys, sha256, fetchedAt } = fetched;
    const { redirectUris, keys, jwksUri } = document;
    const refreshed = { type: typeOf(document), redirectUris, keys, jwksUri, sha256, fetchedAt };
    const after = refreshedClient(client, refreshed, fetchedAt);
    const changes = documentChanges(client, after).map(changeText);
    return {
      client,
      refreshed,
      changes,
      omittedKeys,
      notes: [...fetched.notes, ...profileNotes(client, document)],
      differs: changes.length > 0 || sha256 !== documentSha256,
      asksAgain: client.consent === 'remember' && after.remembersSince !== client.remembersSince,
    };
  }

  /** Takes over a document that was compared. Throws an `OperatorError`, and then changed nothing. */
  refresh({ client, refreshed }: ComparedDocument, operator: Actor): Promise<Client> {
    return this.#parts.clients.refresh(client, refreshed, operator);
  }

  /** All clients that have a metadata document, oldest first. */
  async *all(): AsyncGenerator<Client> {
    for await (const clients of everyPage(walkOldest(this.#parts.store)))
      yield* clients.filter(({ documentSha256 }) => documentSha256 !== null);
  }

  /** The active clients whose document publishes their keys at an address of its own. */
  async publishers(): Promise<Client[]> {
    const found: Client[] = [];
    for await (const client of this.all())
      if (client.status === 'active' && client.jwksUri !== null) found.push(client);
    return found;
  }

  async #read(address: string): Promise<FetchedClient> {
    const { fetchJson, now } = this.#parts;
    const fetchedAt = now();
    const fetched = await fetchJson(address, MAX_DOCUMENT_BYTES);
    if (fetched.kind === 'refused')
      throw new OperatorError(`the document ${address} could not be fetched: ${fetched.problem}`);
    const read = readClientDocument(address, fetched.value);
    if (typeof read === 'string') throw new OperatorError(`the document ${address} is refused: ${read}`);
    return { ...withGoodProfile(await this.#withKeys(read)), sha256: hash('sha256', fetched.text), fetchedAt };
  }

  /** The same document with the keys at its `jwks_uri`, if it has one. */
  async #withKeys(read: ReadDocument): Promise<ReadDocument> {
    const { jwksUri } = read.document;
    if (jwksUri === null) return read;
    const set = await fetchKeySet(this.#parts.fetchJson, jwksUri);
    const problem = typeof set === 'string' ? set : set.keys.length === 0 ? NO_KEY : null;
    if (typeof set === 'string' || problem)
      throw new OperatorError(`the keys ${jwksUri} of the document are refused: ${problem}`);
    const notes = [...read.notes, ...set.omitted.map(keyNote)];
    return { document: { ...read.document, keys: set.keys }, notes, omittedKeys: set.omitted };
  }

  /** The name that a client of a document would have. Throws an `OperatorError` if the operator has to give one. */
  async nameOf({ document: { name } }: FetchedClient, given: string | undefined): Promise<string> {
    if (given !== undefined) return given;
    if (name === null)
      throw new OperatorError('the document has no client_name', 'name', {
        remedy: 'give a name',
        command: 'give --name',
      });
    const [other] = await this.#parts.store.listClientsNamed(name, 1);
    if (other)
      throw new OperatorError(`the app ${other.id} already has the name ${JSON.stringify(other.name)}`, 'name', {
        remedy: 'give another name, so that users can tell the two apart',
        command: 'give another --name, so that users can tell the two apart',
      });
    return name;
  }

  /**
   * Registers the client of a document that was fetched, as `ClientRegistry.register` does. Throws an `OperatorError`, and then
   * changed nothing.
   */
  async register(fetched: FetchedClient, said: SaidBesideDocument, operator: Actor, isHandedOver = false) {
    const { document, sha256, fetchedAt } = fetched;
    const { id: address, redirectUris, keys, jwksUri } = document;
    const settings = {
      ...said,
      name: await this.nameOf(fetched, said.name),
      homepage: said.homepage ?? document.homepage,
      privacyPage: said.privacyPage ?? document.privacyPage,
      contact: said.contact ?? document.contact,
      redirectUris,
      keys,
    };
    const from = { address, sha256, jwksUri, fetchedAt };
    return this.#parts.clients.register(typeOf(document), settings, operator, from, isHandedOver);
  }
}

function typeOf({ method }: ClientDocument): ClientType {
  return method === 'none' ? 'public' : 'confidential';
}

/**
 * Describes where the document's name, pages and contact differ from the operator's. A refresh changes none of these:
 * they may be the operator's own, and a document that took another name could pass for another app.
 */
function profileNotes(client: Client, document: ClientDocument): string[] {
  const said = { name: '--name', homepage: '--homepage', privacyPage: '--privacy', contact: '--contact' } as const;
  return (Object.keys(said) as (keyof typeof said)[])
    .filter((member) => document[member] !== null && document[member] !== client[member])
    .map(
      (member) =>
        `not applied: ${said[member].slice(2)} ${JSON.stringify(document[member])} (apply it with "client update ${said[member]}")`,
    );
}

/** Leaves out what our rules for an app's pages and contact refuse. */
function withGoodProfile({ document, notes, omittedKeys }: ReadDocument): ReadDocument {
  const problems = {
    homepage: pageProblem('client_uri', document.homepage),
    privacyPage: pageProblem('policy_uri', document.privacyPage),
    contact: contactProblem('first of contacts', document.contact),
  };
  const left = Object.entries(problems).filter(([, problem]) => problem !== null);
  const without = Object.fromEntries(left.map(([member]) => [member, null]));
  return {
    document: { ...document, ...without },
    omittedKeys,
    notes: [...notes, ...left.map(([, problem]) => `omitted: ${problem}`)],
  };
}
