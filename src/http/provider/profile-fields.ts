/** The schemas of users' profiles in identity providers' requests; `accounts/people/profile.ts` has the rules. */
import { type Schema, text } from '../json/operation.ts';

function nullable(description: string, more: Schema): Schema {
  return { type: ['string', 'null'], description, ...more };
}

/** A user, in requests and answers. */
export const PROFILE_FIELDS = {
  subject: text('Your own ID of the user, compared byte for byte.', { pattern: '^[!-~]{1,255}$' }),
  email: nullable('An email address. Several users may share it; it never links accounts.', { maxLength: 254 }),
  email_verified: { type: ['boolean', 'null'], description: '`null` means false.' },
  name: nullable('The display name.', { maxLength: 200 }),
  username: nullable('A short name.', { maxLength: 200 }),
  avatar_url: nullable('The address of a picture.', { format: 'uri', pattern: '^https:', maxLength: 2048 }),
} as const;
