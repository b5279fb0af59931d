/** `doctor`: the faults of this installation, line by line, with their remedies. */
import type { CliCommand } from '../command/command.ts';
import type { CommandResult, CommandRun } from '../command/command-run.ts';
import type { DoctorFinding } from '../command/context.ts';

const SIGNS: Readonly<Record<DoctorFinding['verdict'], string>> = {
  ok: 'ok     ',
  warning: 'warning',
  wrong: 'WRONG  ',
};

/** Adds the command. */
export function addDoctorCommand(program: CliCommand, run: CommandRun): void {
  program
    .leaf(
      'doctor',
      'Check this installation: configuration, keys, clocks, database, files, sign-in, and the effects of a proxy. Changes nothing; exits 1 if something is wrong.',
      ['doctor', 'doctor --json'],
    )
    .action(async () => run.print(examined(await run.context.doctor())));
}

function examined(findings: readonly DoctorFinding[]): CommandResult {
  const areas = [...new Set(findings.map(({ area }) => area))];
  const lines = areas.flatMap((area) => [
    area,
    ...findings.filter((finding) => finding.area === area).flatMap(linesOf),
  ]);
  const numberOf = (verdict: DoctorFinding['verdict']) => findings.filter((one) => one.verdict === verdict).length;
  const wrong = numberOf('wrong');
  const warnings = numberOf('warning');
  return {
    json: findings,
    text: lines,
    note: `valetkey: ${wrong} of ${findings.length} checks failed, ${warnings} gave a warning`,
    exitCode: wrong > 0 ? 1 : 0,
  };
}

function linesOf({ name, verdict, detail, remedy }: DoctorFinding): string[] {
  const line = `  ${SIGNS[verdict]}  ${name}: ${detail}`;
  return remedy === null ? [line] : [line, `           ${remedy}`];
}
