/** Operators: those who run the installation by its API and console. Each is a principal of its own, and never an account. */
import { randomBytes } from 'node:crypto';

/** The roles, each with the rights of those before it. */
export const ROLES = ['read', 'support', 'admin'] as const;

/** One of the roles. */
export type Role = (typeof ROLES)[number];

/** An operator. `createdAt` in ms. */
export type Operator = {
  /** `opr_` and random characters. */
  readonly id: string;
  /** Unique, as commands take it. */
  readonly name: string;
  readonly role: Role;
  readonly status: 'active' | 'disabled';
  /** Raised by whatever takes access away, so that a request that began before it writes nothing. */
  readonly epoch: number;
  readonly createdAt: number;
};

/** Returns true if a role has the rights of another. */
export function includesRole(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/** Returns a new id of an operator (`opr`) or of an operator's key (`opk`), with 80 random bits. */
export function newOperatorId(kind: 'opr' | 'opk'): string {
  return `${kind}_${[...randomBytes(16)].map((byte) => ALPHABET[byte & 31]).join('')}`;
}
