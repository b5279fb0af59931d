/** The port to where scopes are defined. Rules are as for every port (`oauth/store.ts`). */
import type { ScopeDefinition } from '../grants/scope.ts';
import type { AuditEvent } from '../trail/audit.ts';

/** The installation's scope definitions. */
export type ScopeStore = {
  /** By name. */
  listScopes(): Promise<ScopeDefinition[]>;
  /** Writes a definition in place of the `expected` one (null: none); false when somebody was faster. */
  defineScope(scope: ScopeDefinition, expected: ScopeDefinition | null, event: AuditEvent): Promise<boolean>;
  /** False when there is none of this name. */
  deleteScope(name: string, event: AuditEvent): Promise<boolean>;
};
