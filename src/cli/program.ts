/** The command line of Valetkey: reads it, runs one command, and turns an error into a sentence and an exit code. */
import { CommanderError, Option } from 'commander';
import manifest from '../../package.json' with { type: 'json' };
import { OperatorError } from '../oauth/error.ts';
import { addClientCommands } from './apps/client.ts';
import { asCalled, refuseTakenByNpm } from './command/caller.ts';
import { CliCommand, WrongUse } from './command/command.ts';
import { CommandRun } from './command/command-run.ts';
import type { CommandContext } from './command/context.ts';
import { addGrantCommands } from './grants/grant.ts';
import { addIdentifyCommand } from './grants/identify.ts';
import { addOperatorCommands } from './operators/operator.ts';
import { escapeForTerminal } from './output/escape-for-terminal.ts';
import { addUserCommands } from './people/user.ts';
import { addIdentityProviderCommands } from './products-and-apis/identity-provider.ts';
import { addResourceServerCommands } from './products-and-apis/resource-server.ts';
import { addScopeCommands } from './products-and-apis/scope.ts';
import { addDatabaseCommands } from './service/database.ts';
import { addDoctorCommand } from './service/doctor.ts';
import { addKeysCommands } from './service/keys.ts';
import { addScanRulesCommand } from './service/scan-rules.ts';
import { addServiceCommands } from './service/service.ts';
import { addAuditCommands } from './trail/audit.ts';

/** Runs one command; `argv` is without the program. Returns the exit code: 0, 1 (refused) or 2 (wrong use). */
export async function runProgram(argv: readonly string[], context: CommandContext): Promise<number> {
  const called = (text: string) => asCalled(text, context.caller, program);
  const program = newProgram(context, called);
  const run = new CommandRun(context, called);
  program.hook('preAction', (_program, command) => {
    run.options = command.optsWithGlobals();
  });
  addServiceCommands(program, run);
  addClientCommands(program, run);
  addResourceServerCommands(program, run);
  addScopeCommands(program, run);
  addUserCommands(program, run);
  addIdentityProviderCommands(program, run);
  addOperatorCommands(program, run);
  addGrantCommands(program, run);
  addAuditCommands(program, run);
  addDatabaseCommands(program, run);
  addKeysCommands(program, run);
  addDoctorCommand(program, run);
  addScanRulesCommand(program, run);
  addIdentifyCommand(program, run);
  try {
    refuseTakenByNpm(argv, context.caller, program);
    refuseTakenBack(argv);
    await program.parseAsync(helpLast(argv), { from: 'user' });
    return run.exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    const sentence = sentenceFor(error);
    if (sentence === null) throw error;
    const lines = called(sentence).split('\n').map(escapeForTerminal);
    context.stderr.write(`valetkey:${lines[0]?.startsWith('- ') ? '\n' : ' '}${lines.join('\n')}\n`);
    return error instanceof WrongUse ? 2 : 1;
  }
}

function newProgram({ stdout, stderr }: CommandContext, called: (text: string) => string): CliCommand {
  return new CliCommand('valetkey')
    .description('Lets apps act for the users of your product, with their consent (OAuth 2.0).')
    .usage('<command> [options]')
    .version(manifest.version, '--version', 'print the version')
    .addOption(new Option('--json').hideHelp())
    .helpOption('-h, --help', 'explain the command')
    .helpCommand('help [command...]', 'explain a command')
    .addHelpText('after', '\nFirst steps:\n  valetkey demo\n  valetkey serve\n  valetkey client register --help')
    .configureOutput({
      writeOut: (text) => stdout.write(called(text)),
      writeErr: (text) => stderr.write(called(text)),
      getOutHelpWidth: () => stdout.columns ?? 80,
      getErrHelpWidth: () => stdout.columns ?? 80,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .exitOverride();
}

/** Refuses an option together with its opposite: the last would win, and the other be ignored in silence. */
function refuseTakenBack(argv: readonly string[]): void {
  for (const [index, argument] of argv.entries()) {
    const option = argument.replace(/^--no-/, '--');
    const isGiven = (before: string) => before === option || before.startsWith(`${option}=`);
    if (option !== argument && argv.slice(0, index).some(isGiven))
      throw new WrongUse(`${argument} contradicts the ${option} before it: omit one, or give ${argument} first`);
  }
}

/** Moves `--help`, or a leading `help`, to the end: wherever it stands, it is about the whole command. */
function helpLast(argv: readonly string[]): string[] {
  const isHelp = (argument: string, index: number) =>
    argument === '--help' || argument === '-h' || (argument === 'help' && index === 0);
  const command = argv.filter((argument, index) => !isHelp(argument, index));
  return command.length < argv.length ? [...command, '--help'] : command;
}

/** The sentence for the operator, or null for a bug of this program. */
function sentenceFor(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  if (error.name === 'StoreUnavailable')
    return `the database is unavailable, and nothing was changed: try again (${error.message})`;
  const { code, path } = error as NodeJS.ErrnoException;
  if ((code === 'EACCES' || code === 'EPERM') && path !== undefined)
    return `this user has no permission to access ${path} (${code}): move it, or run the command as another user`;
  if (isFromBelow(error) || isFromBelow(error.cause))
    return `the command failed (${error.message.replaceAll('\n', ' ')}): check the disk, and the database with "database check"`;
  if (error instanceof OperatorError) return error.atCommandLine;
  return ['InstallationError', 'WrongUse', 'DatabaseMoved'].includes(error.name) ? error.message : null;
}

/** True for an error of SQLite, PostgreSQL or the system, recognized by the members that only theirs have. */
function isFromBelow(error: unknown): boolean {
  return error instanceof Error && ['errcode', 'severity', 'syscall'].some((member) => member in error);
}
