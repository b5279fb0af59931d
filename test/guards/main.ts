/** The guards of what the program hands to its parts. */
import { type Guard, guardsIn } from './guard.ts';

/** Guards of src/main.ts and src/wiring: tests run the real program for each. */
export const mainGuards: readonly Guard[] = [
  ...guardsIn(
    'src/settings/configuration.ts',
    ['test/settings/configuration.test.ts'],
    [
      [
        'a misspelled variable names the one that was meant',
        'const meant = similarName(name, known);',
        'const meant = similarName(name, []);',
      ],
    ],
  ),
  ...guardsIn(
    'src/accounts/import/import-lines.ts',
    ['test/accounts/import-lines.test.ts'],
    [
      ['a header is read without blanks and capitals', 'return field.trim().toLowerCase();', 'return field;'],
      ['a header with another separator names it', 'meantSeparator(header) ??', ''],
      ['blanks around a field are no part of it', 'found[2]?.trim()', 'found[2]'],
    ],
  ),
  ...guardsIn(
    'src/http/operator/api/query.ts',
    ['test/http/operator/api/frame.test.ts'],
    [['an empty limit is refused', "name === 'limit' ? sent.getNumber(name) : sent.get(name)", 'sent.get(name)']],
  ),
  ...guardsIn(
    'src/wiring/provider-tests.ts',
    ['test/operator/provider-test.test.ts'],
    [
      [
        'a command tests a provider with the settings of the service',
        'const served = await askMethods(servedUrl);',
        'const served = await askMethods(servedUrl).then(() => null);',
      ],
      [
        'a terminal without variables finds the service at its recorded address',
        'unlike?.recorded || issuer',
        "(unlike?.recorded && '') || issuer",
      ],
    ],
  ),
  ...guardsIn(
    'src/cli/input/confirm.ts',
    ['test/cli/confirm.test.ts'],
    [
      [
        'without a terminal and without --yes nothing is done',
        'if (!context.stdin.isTTY) throw new WrongUse(',
        'if (!context.stdin.isTTY) return void new WrongUse(',
      ],
      ['only yes is a yes', 'if (!/^y(es)?$/i.test(reply.trim())) throw', 'if (false as boolean) throw'],
    ],
  ),
  ...guardsIn(
    'src/wiring/key-commands.ts',
    ['test/cli/confirm.test.ts'],
    [['a key that cannot be retired is refused before the question', 'await rootKeys.requireEarlier(keyId);', '']],
  ),
  ...guardsIn(
    'src/wiring/database-commands.ts',
    ['test/cli/confirm.test.ts'],
    [
      [
        'a backup that does not exist is refused before the question',
        "if (database.kind === 'file' && asked.file !== null) requireBackup(asked.file, database.path);",
        'void requireBackup;',
      ],
    ],
  ),
  ...guardsIn(
    'src/wiring/may-serve.ts',
    ['test/flows/earlier-key.test.ts'],
    [
      [
        'instances that ended are forgotten',
        'await forgetEnded({ store, listRunning: instances.listRunning });',
        'void forgetEnded;',
      ],
    ],
  ),
  ...guardsIn(
    'src/operator/root-keys/forget-ended-instances.ts',
    ['test/flows/earlier-key.test.ts'],
    [
      [
        'an instance that runs stays noted',
        'if (!running.includes(id)) await',
        'if (running.includes(id) || true) await',
      ],
    ],
  ),
  ...guardsIn(
    'src/wiring/open-database.ts',
    ['test/flows/founding.test.ts'],
    [
      [
        'most commands begin no installation',
        '?? (mayFound ? null : nothingThere(configuration.database))',
        '?? (mayFound ? null : null)',
      ],
    ],
  ),
  ...guardsIn(
    'src/wiring/open-database.ts',
    ['test/flows/wiring.test.ts'],
    [
      ['a failed disk ends the process', 'process.exit(1); },', '},'],
      [
        'a command says that nobody knows what was done',
        "if (role === 'command') process.stderr.write(",
        "if (role === 'command') void (",
      ],
      ['how commits sync can be set', "durability: role === 'service' ? durability : 'full',", "durability: 'full',"],
      [
        'commits sync by themselves where that is set',
        "durability: role === 'service' ? durability : 'full',",
        "durability: role === 'service' ? 'awaited' : 'full',",
      ],
      ['what SQLite has to report is logged', 'report: (sentence) => logger.warn(sentence),', 'report: () => {},'],
    ],
  ),
  ...guardsIn(
    'src/main.ts',
    ['test/flows/wiring.test.ts'],
    [
      ['a start warns of the configuration', '...configurationWarnings(configuration), ', ''],
      ['a start warns of settings that differ', '...differences, ', ''],
    ],
  ),
  ...guardsIn(
    'src/wiring/people.ts',
    ['test/flows/wiring.test.ts'],
    [
      [
        "the product's name is no password",
        "const guessable = [productName, 'valetkey'];",
        "const guessable = ['valetkey'];",
      ],
      [
        'our own name is no password',
        "const guessable = [productName, 'valetkey'];",
        'const guessable = [productName];',
      ],
    ],
  ),
  ...guardsIn(
    'src/main.ts',
    ['test/flows/exposed-database.test.ts'],
    [['a start warns of files that others can read', ', ...storage.exposures]', ']']],
  ),
  ...guardsIn(
    'src/wiring/examination.ts',
    ['test/flows/exposed-database.test.ts'],
    [['the doctor tells who can reach a database', 'exposures: storage.exposures,', 'exposures: [],']],
  ),
];
