/** `scan-rules`: patterns with which secret scanners find leaked credentials. */
import { Option } from 'commander';
import type { ScanRule } from '../../operator/leaks/scan-rules.ts';
import type { CliCommand } from '../command/command.ts';
import type { CommandRun } from '../command/command-run.ts';
import { type Column, table } from '../output/table.ts';

type Format = 'gitleaks' | 'trufflehog' | 'github';

/** Adds the command. */
export function addScanRulesCommand(program: CliCommand, run: CommandRun): void {
  program
    .leaf('scan-rules', 'Print patterns with which secret scanners find credentials of this installation.', [
      'scan-rules',
      'scan-rules --format gitleaks > .gitleaks.toml',
      'scan-rules --format trufflehog > trufflehog.yaml',
    ])
    .addOption(
      new Option(
        '--format <scanner>',
        'print the configuration file of a scanner; "github" prints one pattern a line',
      ).choices(['gitleaks', 'trufflehog', 'github']),
    )
    .action(({ format }: { format?: Format }) => {
      const rules = run.context.scanRules();
      const text = format ? FORMATS[format](rules) : table(COLUMNS, rules, run.width);
      run.print({ json: rules, text });
    });
}

const COLUMNS: readonly Column<ScanRule>[] = [
  { heading: 'Credential', value: ({ description }) => description },
  { heading: 'Pattern', value: ({ pattern }) => pattern },
];

const FORMATS: Readonly<Record<Format, (rules: readonly ScanRule[]) => string[]>> = {
  gitleaks: (rules) => [
    '[extend]',
    'useDefault = true',
    ...rules.flatMap(({ id, description, pattern }) => [
      '',
      '[[rules]]',
      `id = "${id}"`,
      `description = "${description}"`,
      `regex = '''${pattern}'''`,
      `keywords = ["${keyword(id)}"]`,
    ]),
  ],
  trufflehog: (rules) => [
    'detectors:',
    ...rules.flatMap(({ id, pattern }) => [
      `  - name: ${id}`,
      '    keywords:',
      `      - ${keyword(id)}`,
      '    regex:',
      `      credential: '${pattern}'`,
    ]),
  ],
  github: (rules) => rules.map(({ description, pattern }) => `${description}: ${pattern.replace('\\b', '')}`),
};

/** Returns the first characters of a rule's credentials. */
function keyword(id: string): string {
  return `${id.replace('-', '_')}_`;
}
