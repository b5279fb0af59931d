/** The schemas of what identity providers say of their people; `accounts/people/profile.ts` has the rules. */
import { type Schema, text } from '../api/operation.ts';

function nullable(description: string, more: Schema): Schema {
  return { type: ['string', 'null'], description, ...more };
}

/** A person, in requests and answers. */
export const PROFILE_FIELDS = {
  subject: text('Who it is, by your own id: compared byte for byte.', { pattern: '^[!-~]{1,255}$' }),
  email: nullable('May be that of several people; it links nobody.', { maxLength: 254 }),
  email_verified: { type: ['boolean', 'null'], description: 'Null is as false.' },
  name: nullable('What people see.', { maxLength: 200 }),
  username: nullable('A short name.', { maxLength: 200 }),
  avatar_url: nullable('A picture.', { format: 'uri', pattern: '^https:', maxLength: 2048 }),
} as const;
