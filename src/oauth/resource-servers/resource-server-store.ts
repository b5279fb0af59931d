/** The port to where resource servers are kept. Rules are as for every port (`oauth/store.ts`). */
import type { StoredSecret } from '../keys/secret.ts';
import type { AuditEvent } from '../trail/audit.ts';
import type { ResourceServer } from './resource-server.ts';

/** Resource servers. Every change is seen by the next request. */
export type ResourceServerStore = {
  findResourceServer(id: string): Promise<ResourceServer | null>;
  /** Finds the resource server of a live secret, by the secret's digest. */
  findResourceServerBySecret(digest: Buffer): Promise<ResourceServer | null>;
  /** The resources that they have, each spelling once, in no order. */
  listResources(): Promise<string[]>;
  listResourceServers(): Promise<ResourceServer[]>;
  /** False when there is one with this id. */
  registerResourceServer(server: ResourceServer, event: AuditEvent): Promise<boolean>;
  /** Writes what an operator may change, if that is still as `expected`; false when somebody was faster or it is gone. */
  updateResourceServer(server: ResourceServer, expected: ResourceServer, event: AuditEvent): Promise<boolean>;
  /** Replaces the secrets if they are still `expected`; false when somebody was faster or it is gone. */
  replaceResourceServerSecrets(
    expected: ResourceServer,
    secrets: readonly StoredSecret[],
    event: AuditEvent,
  ): Promise<boolean>;
  deleteResourceServer(id: string, event: AuditEvent): Promise<boolean>;
};
