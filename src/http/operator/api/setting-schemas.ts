/** The schemas of settings, in the bodies and the answers of the operators' API. */
import { ACTS } from '../../../operator/access/rights.ts';
import { type Described, described, hasDefault, type Settings } from '../../../operator/fields/setting.ts';
import type { Schema } from '../../json/operation.ts';

/** Members of an object, with their schemas. */
type MemberSchemas = Readonly<Record<string, Schema>>;

/** Returns the settings as an object has them. */
export function answeredSettings<Values>(settings: Settings<Values>): MemberSchemas {
  return membersOf(settings, ({ help, field: { schema } }) => ({ ...schema, description: joined(help, schema) }));
}

/** Returns the settings as a merge patch changes them: a null brings a default back (RFC 7396 §2). */
export function patchedSettings<Values>(settings: Settings<Values>): MemberSchemas {
  return membersOf(settings, patched);
}

/** Returns the settings as the body of something new has them. */
export function newSettings<Values>(settings: Settings<Values>): MemberSchemas {
  return membersOf(settings, (setting) => ({
    ...patched(setting),
    ...(hasDefault(setting) ? { default: setting.initial } : {}),
  }));
}

function membersOf<Values>(settings: Settings<Values>, schemaOf: (setting: Described) => Schema): MemberSchemas {
  return Object.fromEntries(described(settings).map((setting) => [setting.member, schemaOf(setting)]));
}

function patched(setting: Described): Schema {
  const { help, field } = setting;
  const schema: Schema = field.accepts ?? field.schema;
  return { ...(hasDefault(setting) ? orNull(schema) : schema), description: joined(help, schema, needed(setting)) };
}

function joined(help: string, { description }: Schema, needs?: string | null): string {
  return [help, description, needs].filter(Boolean).join(' ');
}

/** Returns the sentence about the right that it needs to set a value. */
function needed({ act, initial }: Described): string | null {
  const needs = act && ACTS[act[0]];
  if (act === undefined || needs === undefined || needs === 'commands alone') return null;
  const isChoice = act[1] === 'unless default' && typeof initial === 'string';
  return `${isChoice ? `Anything but \`${initial}\` needs` : 'Needs'} \`${needs.right}\`.`;
}

function orNull({ type, enum: words, ...others }: Schema): Schema {
  return {
    ...(type === undefined ? {} : { type: [...new Set([type, 'null'].flat())] }),
    ...(words === undefined ? {} : { enum: [...new Set([...(words as unknown[]), null])] }),
    ...others,
  };
}
