/**
 * Clients that the operator admits by their metadata document (draft-ietf-oauth-client-id-metadata-document). No request of
 * anybody else fetches one, or registers a client.
 */
import { hash } from 'node:crypto';
import type { Client } from '../oauth/client.ts';
import {
  type ClientDocument,
  documentAddressProblem,
  MAX_DOCUMENT_BYTES,
  NO_KEY,
  type ReadDocument,
  readClientDocument,
} from '../oauth/client-document.ts';
import { OperatorError } from '../oauth/error.ts';
import { type FetchJson, fetchKeySet } from '../oauth/key-set.ts';
import type { ClientStore } from '../oauth/store.ts';
import { contactProblem, pageProblem } from './app-profile.ts';
import { type ClientRegistry, type NewClientSettings, registeredAlready } from './client-registry.ts';

/** What documents are read with. `isLocal`: http on loopback is good as well; `now` returns ms. */
export type ClientDocumentsParts = {
  readonly store: Pick<ClientStore, 'findClient' | 'listClientsNamed'>;
  readonly clients: Pick<ClientRegistry, 'register'>;
  readonly isLocal: boolean;
  readonly fetchJson: FetchJson;
  readonly now: () => number;
};

/**
 * A document that was fetched, with the keys at its `jwks_uri`: what is honoured of it, sentences on the rest, its SHA-256
 * (hex), and when the fetch began (ms).
 */
export type FetchedClient = {
  readonly document: ClientDocument;
  readonly notes: readonly string[];
  readonly sha256: string;
  readonly fetchedAt: number;
};

/** What the operator adds to a document; a name, a page or a contact is in place of the document's. */
export type SaidBesideDocument = Omit<NewClientSettings, 'name' | 'redirectUris' | 'keys'> & {
  readonly name: string | undefined;
};

/** Fetches metadata documents and registers clients from them. */
export class ClientDocuments {
  readonly #parts: ClientDocumentsParts;

  constructor(parts: ClientDocumentsParts) {
    this.#parts = parts;
  }

  /** Fetches the document of a new client, and changes nothing. Throws an `OperatorError` with one sentence on a refusal. */
  async fetch(address: string): Promise<FetchedClient> {
    const { store, isLocal, fetchJson, now } = this.#parts;
    const problem = documentAddressProblem(address, isLocal);
    if (problem)
      throw new OperatorError(`the address ${JSON.stringify(address)} is not good for a document: ${problem}`);
    if (await store.findClient(address)) throw registeredAlready(address);
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
    return { document: { ...read.document, keys: set.keys }, notes: [...read.notes, ...set.notes] };
  }

  /** The name that a client of a document would have. Throws an `OperatorError` if the operator has to give one. */
  async nameOf({ document: { name } }: FetchedClient, given: string | undefined): Promise<string> {
    if (given !== undefined) return given;
    if (name === null) throw new OperatorError('the document has no client_name: give --name');
    const [other] = await this.#parts.store.listClientsNamed(name, 1);
    if (other)
      throw new OperatorError(
        `the app ${other.id} is called ${JSON.stringify(other.name)} already: give --name, so that people can tell the two apart`,
      );
    return name;
  }

  /** Registers the client of a document that was fetched. Throws an `OperatorError`, and then changed nothing. */
  async register(fetched: FetchedClient, said: SaidBesideDocument): Promise<Client> {
    const { document, sha256, fetchedAt } = fetched;
    const { id: address, redirectUris, keys, jwksUri, method } = document;
    const settings = {
      ...said,
      name: await this.nameOf(fetched, said.name),
      homepage: said.homepage ?? document.homepage,
      privacyPage: said.privacyPage ?? document.privacyPage,
      contact: said.contact ?? document.contact,
      ...{ redirectUris, keys },
    };
    const type = method === 'none' ? 'public' : 'confidential';
    return (await this.#parts.clients.register(type, settings, { address, sha256, jwksUri, fetchedAt })).client;
  }
}

/** Leaves out what our rules for an app's pages and contact refuse. */
function withGoodProfile({ document, notes }: ReadDocument): ReadDocument {
  const problems = {
    homepage: pageProblem('client_uri', document.homepage),
    privacyPage: pageProblem('policy_uri', document.privacyPage),
    contact: contactProblem('first of contacts', document.contact),
  };
  const left = Object.entries(problems).filter(([, problem]) => problem !== null);
  const without = Object.fromEntries(left.map(([member]) => [member, null]));
  return {
    document: { ...document, ...without },
    notes: [...notes, ...left.map(([, problem]) => `left out: ${problem}`)],
  };
}
