/**
 * The profile fields of the resource owner that a client gets besides the ID, named as in `/v2/me`. The operator chooses them
 * for each client.
 */
import type { Grant, ResourceOwner } from './grant.ts';

/** All fields, in the order in which a grant keeps them. */
export const PERSON_FIELDS = ['name', 'username', 'email', 'avatar_url'] as const;

/** One field. */
export type PersonField = (typeof PERSON_FIELDS)[number];

const ALL = PERSON_FIELDS.join(' ');

/** Profile fields as a grant stores them: separated by spaces, in a fixed order, so that equal sets are equal texts. */
export function personFieldsText(fields: readonly PersonField[]): string {
  return PERSON_FIELDS.filter((field) => fields.includes(field)).join(' ');
}

/** The fields that a grant keeps. */
export function personFieldsOf({ personFields }: Pick<Grant, 'personFields'>): PersonField[] {
  return PERSON_FIELDS.filter((field) => personFields.split(' ').includes(field));
}

/** A resource owner with their email address, verified or not. */
export type Person = Omit<ResourceOwner, 'id'> & { readonly emailVerified: boolean };

/** The fields that have a value for a resource owner; the email address only if it is verified. Consent names no others. */
export function fieldsThere(fields: readonly PersonField[], person: Person): PersonField[] {
  const { name, username, avatarUrl: avatar_url } = person;
  const values = { name, username, email: person.emailVerified ? person.email : null, avatar_url };
  return fields.filter((field) => values[field] !== null);
}

/** The resource owner as a grant shows them to its client: fields that were not allowed are null. */
export function visibleFields(owner: ResourceOwner, grant: Pick<Grant, 'personFields'>): ResourceOwner {
  if (grant.personFields === ALL) return owner;
  const fields = personFieldsOf(grant);
  const seen = (field: PersonField, value: string | null) => (fields.includes(field) ? value : null);
  return {
    id: owner.id,
    username: seen('username', owner.username),
    email: seen('email', owner.email),
    name: seen('name', owner.name),
    avatarUrl: seen('avatar_url', owner.avatarUrl),
  };
}
