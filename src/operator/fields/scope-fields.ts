/** The meaning of a scope, each part described once. A PUT replaces all of it. */
import { SCOPE_EFFECTS } from '../../oauth/grants/scope.ts';
import type { ScopeMeaning } from '../products-and-apis/scope-registry.ts';
import { type Field, isObject, oneOf, text } from './field.ts';
import type { Settings } from './setting.ts';

const sentences: Field<ScopeMeaning['sentences']> = {
  kind: 'sentences',
  type: 'an object with a sentence for each language, such as {"en": "Read your mail"}',
  read: (value) =>
    isObject(value) && Object.values(value).every((sentence) => typeof sentence === 'string' && sentence !== '')
      ? (value as Record<string, string>)
      : undefined,
  schema: { type: 'object', additionalProperties: text.schema, description: 'By language (BCP 47), such as en.' },
};

/** The meaning of a scope. */
export const SCOPE_MEANING: Settings<ScopeMeaning> = {
  sentences: {
    field: sentences,
    label: 'Sentences',
    group: '',
    help: 'What the scope allows, as users read it.',
  },
  effect: {
    field: { ...oneOf(SCOPE_EFFECTS), schema: { type: ['string', 'null'], enum: [...SCOPE_EFFECTS, null] } },
    initial: null,
    label: 'Effect',
    group: '',
    help: 'The effect of the scope; a sensitive one can do harm.',
    words: { reads: ['reads'], changes: ['changes'], sensitive: ['sensitive'] },
  },
};
