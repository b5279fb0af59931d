/**
 * The one table of the acts of commands, API and console, with the role, the right of a key and the presence that each needs.
 * Commands need none of it: whoever has the root keys has everything.
 */
import { isAheadOfClock } from '../../oauth/grants/clock-steps.ts';
import { includesRole, type Operator, type Role } from './operator.ts';
import type { OperatorSession } from './operator-session.ts';

/** The rights that a key may have. A key acts by the smaller of its rights and its operator's role. */
export const RIGHTS = [
  'clients.read',
  'clients.write',
  'clients.secrets',
  'clients.trust',
  'resource-servers.read',
  'resource-servers.write',
  'resource-servers.secrets',
  'identity-providers.read',
  'identity-providers.write',
  'identity-providers.secrets',
  'identity-providers.trust',
  'scopes.read',
  'scopes.write',
  'scopes.trust',
  'users.read',
  'users.write',
  'users.invite',
  'grants.read',
  'grants.end',
  'audit.read',
  'status.read',
  'identify',
] as const;

/** One of the rights. */
export type Right = (typeof RIGHTS)[number];

/** A session lets its operator act for this long after a passkey was used (ms), where an act needs presence. */
export const PRESENCE_MS = 5 * 60 * 1000;

/** The asking operator, and the means. */
export type Access = {
  readonly operator: Operator;
  readonly by:
    | {
        readonly kind: 'session';
        /** Digest of the session's token. */
        readonly digest: Buffer;
        /** The session began with a passkey, or at a one-time address, which a command printed. */
        readonly how: 'passkey' | 'address';
        /** When the session began (ms). */
        readonly createdAt: number;
        /** When a passkey was last used in the session (ms), or null. */
        readonly presentAt: number | null;
      }
    | { readonly kind: 'key'; readonly keyId: string; readonly rights: readonly Right[] };
};

/** Returns what the audit trail calls the means of an access: the ID of the key, or kind and begin of the session. */
export function meansOf(by: Access['by']): string {
  return by.kind === 'key' ? by.keyId : sessionText(by);
}

/** Returns the kind and the begin of a session, by which the audit trail tells sessions of an operator apart. */
export function sessionText({ how, createdAt }: Pick<OperatorSession, 'how' | 'createdAt'>): string {
  return `${how} ${new Date(createdAt).toISOString()}`;
}

/** Why an access may not do an act. */
export type AccessRefusal = 'disabled' | 'role' | 'right' | 'presence' | 'commands alone';

type Needs = {
  readonly role: Role;
  /** The right that a key needs; null where no key may do it. */
  readonly right: Right | null;
  /**
   * `always`: a session needs a passkey that was used within `PRESENCE_MS`. `unless-address`: except for a session that
   * began at a one-time address, which exists to enroll a passkey.
   */
  readonly presence?: 'always' | 'unless-address';
};

const read = (right: Right | null): Needs => ({ role: 'read', right });
const support = (right: Right): Needs => ({ role: 'support', right });
const admin = (right: Right): Needs => ({ role: 'admin', right });
/** Acts as another, makes trust, or ends many. */
const present = (right: Right | null): Needs => ({ role: 'admin', right, presence: 'always' });
const COMMANDS_ALONE = 'commands alone';

/**
 * The acts. Where a request does several (`clients.update` that also sets `checked` is `clients.vouch` too), each is asked
 * for.
 */
export const ACTS = {
  'clients.list': read('clients.read'),
  'clients.show': read('clients.read'),
  'clients.tallies': read('clients.read'),
  'clients.failures': read('clients.read'),
  'clients.register': admin('clients.write'),
  'clients.update': admin('clients.write'),
  'clients.refresh': COMMANDS_ALONE,
  'clients.pause': support('clients.write'),
  'clients.resume': support('clients.write'),
  'clients.delete': present('clients.write'),
  'clients.revoke-grants': present('grants.end'),
  /** Sets `checked`. */
  'clients.vouch': present('clients.trust'),
  /** Sets `consent` to anything but `ask`. */
  'clients.set-consent': present('clients.trust'),
  /** Lets users sign in at the app. */
  'clients.set-sign-in': present('clients.trust'),
  /** Sets the public keys that the app proves itself with. */
  'clients.set-keys': present('clients.secrets'),
  /** Makes a secret of an app, when it is registered or later. */
  'clients.make-secret': present('clients.secrets'),
  'clients.retire-secret': present('clients.secrets'),
  'clients.hand-over': present('clients.secrets'),

  'resource-servers.list': read('resource-servers.read'),
  'resource-servers.show': read('resource-servers.read'),
  'resource-servers.register': admin('resource-servers.write'),
  'resource-servers.update': admin('resource-servers.write'),
  'resource-servers.delete': present('resource-servers.write'),
  'resource-servers.make-secret': present('resource-servers.secrets'),
  'resource-servers.retire-secret': present('resource-servers.secrets'),
  'resource-servers.hand-over': present('resource-servers.secrets'),

  'identity-providers.list': read('identity-providers.read'),
  'identity-providers.show': read('identity-providers.read'),
  'identity-providers.register': present('identity-providers.trust'),
  'identity-providers.update': admin('identity-providers.write'),
  /** Sets the sign-in address, a home page, the public keys or the rights. */
  'identity-providers.trust': present('identity-providers.trust'),
  'identity-providers.test': admin('identity-providers.write'),
  'identity-providers.pause': admin('identity-providers.write'),
  'identity-providers.resume': admin('identity-providers.write'),
  'identity-providers.delete': present('identity-providers.write'),
  'identity-providers.end-all': present('grants.end'),
  'identity-providers.make-secret': present('identity-providers.secrets'),
  'identity-providers.retire-secret': present('identity-providers.secrets'),
  'identity-providers.hand-over': present('identity-providers.secrets'),

  'scopes.list': read('scopes.read'),
  'scopes.show': read('scopes.read'),
  'scopes.define': admin('scopes.write'),
  'scopes.delete': admin('scopes.write'),
  /** Sets, changes or removes what users are told of a scope: sentences and effect of the catalogue, or an app's own sentence. */
  'scopes.set-sentences': present('scopes.trust'),

  'users.list': read('users.read'),
  'users.show': read('users.read'),
  /** With a password; without one a user is invited. */
  'users.add': COMMANDS_ALONE,
  'users.update': admin('users.write'),
  'users.disable': support('users.write'),
  'users.enable': support('users.write'),
  'users.end-sessions': support('users.write'),
  'users.revoke-grants': support('grants.end'),
  'users.delete': present('users.write'),
  'users.invite': present('users.invite'),
  'users.set-password': COMMANDS_ALONE,
  'users.link': COMMANDS_ALONE,
  'users.import': COMMANDS_ALONE,

  'grants.list': read('grants.read'),
  'grants.show': read('grants.read'),
  'grants.revoke': support('grants.end'),
  /** Ends every grant of the installation. */
  'grants.revoke-all': COMMANDS_ALONE,

  'audit-events.list': read('audit.read'),
  'audit-events.show': read('audit.read'),
  'audit.verify': COMMANDS_ALONE,
  'audit.export': COMMANDS_ALONE,
  'audit.shorten': COMMANDS_ALONE,

  identify: read('identify'),
  /** Findings of the doctor, instances, versions, sizes; tallies of the installation. */
  'status.show': read('status.read'),

  /** Operators, their passkeys, sessions and keys: no key touches them. */
  'operators.list': read(null),
  'operators.show': read(null),
  'operators.add': present(null),
  'operators.update': present(null),
  'operators.disable': present(null),
  'operators.enable': present(null),
  'operators.delete': present(null),
  'operators.reset': present(null),
  'operators.sign-in': present(null),
  'operators.end-sessions': present(null),
  'operators.add-key': present(null),
  'operators.end-key': present(null),
  /** Removes, disables or demotes the last active admin. */
  'operators.remove-last-admin': COMMANDS_ALONE,

  /** An operator's own passkeys and sessions, whatever the role. */
  'own.show': read(null),
  'own.confirm': read(null),
  'own.sign-out': read(null),
  'own.end-session': read(null),
  'own.add-passkey': { role: 'read', right: null, presence: 'unless-address' },
  'own.remove-passkey': { role: 'read', right: null, presence: 'always' },

  'keys.generate': COMMANDS_ALONE,
  'keys.list': COMMANDS_ALONE,
  'keys.rotate': COMMANDS_ALONE,
  'keys.retire': COMMANDS_ALONE,
  'database.migrate': COMMANDS_ALONE,
  'database.check': COMMANDS_ALONE,
  'database.adopt-settings': COMMANDS_ALONE,
  'database.backup': COMMANDS_ALONE,
  'database.note-backup': COMMANDS_ALONE,
  'database.restore': COMMANDS_ALONE,
  'database.copy': COMMANDS_ALONE,
} as const satisfies Readonly<Record<string, Needs | typeof COMMANDS_ALONE>>;

/** The name of an act. */
export type Act = keyof typeof ACTS;

/** Returns null if the access may do the act at a time (ms), or the reason why not. */
export function refusalOf(act: Act, { operator, by }: Access, now: number): AccessRefusal | null {
  const needs: Needs | typeof COMMANDS_ALONE = ACTS[act];
  if (operator.status !== 'active') return 'disabled';
  if (needs === COMMANDS_ALONE) return COMMANDS_ALONE;
  if (!includesRole(operator.role, needs.role)) return 'role';
  if (by.kind === 'key') return needs.right !== null && by.rights.includes(needs.right) ? null : 'right';
  if (needs.presence === undefined || (needs.presence === 'unless-address' && by.how === 'address')) return null;
  return isPresent(by, now) ? null : 'presence';
}

/** Returns true if a passkey was used lately in a session, at a time (ms). */
export function isPresent({ presentAt }: Extract<Access['by'], { kind: 'session' }>, now: number): boolean {
  return presentAt !== null && presentAt > now - PRESENCE_MS && !isAheadOfClock(presentAt, 0, now);
}
