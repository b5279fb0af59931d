import { writeSync } from 'node:fs';

/** Loaded before the program (`--import`): says on standard error when the tables of languages are read. */
const formats: Record<string, unknown> = Intl as never;
for (const name of ['DateTimeFormat', 'NumberFormat', 'PluralRules', 'Segmenter'] as const)
  formats[name] = new Proxy(Intl[name], {
    construct(made, given) {
      writeSync(2, `Intl.${name} made\n`);
      return Reflect.construct(made, given);
    },
  });
