/** Text for properties. */
import fc from 'fast-check';

/** Any text of 1 to 60 characters but unpaired surrogates, half of it in ASCII. */
export const someText = fc
  .array(
    fc.oneof(
      fc.integer({ min: 0, max: 0x7f }),
      fc.integer({ min: 0, max: 0xd7ff }),
      fc.integer({ min: 0xe000, max: 0x10ffff }),
    ),
    { minLength: 1, maxLength: 60 },
  )
  .map((points) => String.fromCodePoint(...points));
