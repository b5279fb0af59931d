/** The way the program was called: hints use that name, and options that npm took for itself are detected. */
import type { Option } from 'commander';
import { quotedWord } from '../output/quoted-word.ts';
import { type CliCommand, WrongUse } from './command.ts';

/** How the caller names the program, and npm's configuration, where options of ours may have ended up; null without npm. */
export type Caller = {
  readonly programName: string;
  readonly npmConfig: Readonly<Record<string, string | undefined>> | null;
};

/**
 * The caller, by the variables of the process: npm in a checkout, npx, or Node.js with the path of `main.ts` from where they are. What
 * is installed elsewhere or as a package, or called by a test (null), is `valetkey`.
 */
export function callerOf(variables: Readonly<Record<string, string | undefined>>, path: string | null): Caller {
  if (['valetkey', 'start', 'demo'].includes(variables['npm_lifecycle_event'] ?? '')) {
    const told = Object.entries(variables).filter(([name]) => name.startsWith(NPM_CONFIG));
    const npmConfig = Object.fromEntries(told.map(([name, value]) => [name.slice(NPM_CONFIG.length), value]));
    return { programName: 'npm run -s valetkey --', npmConfig };
  }
  if (variables['npm_lifecycle_event'] === 'npx') return { programName: 'npx valetkey', npmConfig: null };
  const isInstalled = path === null || /^\.\.|(^|[\\/])node_modules[\\/]/.test(path);
  return { programName: isInstalled ? 'valetkey' : `node ${path}`, npmConfig: null };
}

const NPM_CONFIG = 'npm_config_';

/** Commands in a text as the caller writes them: `npm run -s valetkey -- client list`. */
export function asCalled(text: string, { programName }: Caller, program: CliCommand): string {
  const commands = ['<command>', 'help', '--help', ...program.commands.map((command) => command.name())].join('|');
  return text.replace(new RegExp(`(?<![\\w./@-])valetkey (?=(?:${commands})(?![\\w-]))`, 'g'), `${programName} `);
}

/**
 * Without `--`, npm keeps all options for itself, and the command would run without them: throws `WrongUse` with the correct
 * line. A line with any option is correct: npm's configuration then comes from npm's own files.
 */
export function refuseTakenByNpm(
  argv: readonly string[],
  { programName, npmConfig }: Caller,
  program: CliCommand,
): void {
  if (npmConfig === null || argv.some((argument) => argument.startsWith('-'))) return;
  const command = commandOf(argv, program);
  const taken = command.options.flatMap((option) => takenOption(option, npmConfig));
  if (taken.length === 0) return;
  // npm takes an option and may leave its value behind: only the command and its own arguments are certain.
  const words = argv.slice(0, depthOf(command) + command.registeredArguments.length);
  const names = taken.map(([name]) => name).join(', ');
  const line = [programName, ...words.map(quotedWord), ...taken.flat()].join(' ');
  throw new WrongUse(`npm took ${names} for itself, and nothing was done: put -- before the command, as in\n  ${line}`);
}

/** The command that is named, as far as there is one. */
function commandOf([name, ...more]: readonly string[], from: CliCommand): CliCommand {
  const inner = from.commands.find((command) => command.name() === name) as CliCommand | undefined;
  return inner ? commandOf(more, inner) : from;
}

/** The number of words that name it. */
function depthOf(command: CliCommand): number {
  return command.parent ? 1 + depthOf(command.parent as CliCommand) : 0;
}

/** An option with its value as npm has it; of several values npm has one, and of none `true`. */
function takenOption(
  { long, negate, variadic, required }: Option,
  config: NonNullable<Caller['npmConfig']>,
): [option: string, ...value: string[]][] {
  const name = long?.replace(/^--(no-)?/, '') ?? '';
  const value = config[name.replaceAll('-', '_')];
  // Many have set `yes`, so that npm does not ask before it installs.
  if (!long || value === undefined || name === 'yes' || negate !== (value === '')) return [];
  const known = value === 'true' || negate ? [] : [quotedWord(value)];
  return [[long, ...known, ...(variadic || (required && known.length === 0) ? ['…'] : [])]];
}
