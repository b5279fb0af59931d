/** `audit export`: the trail for a log collector, which continues after a cursor. */
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { InvalidArgumentError, Option } from 'commander';
import { TrailHeldUp } from '../../oauth/trail/audit-store.ts';
import type { TrailPlace } from '../../operator/trail/audit-trail.ts';
import { type ExportedEvent, exportedEvent } from '../../operator/trail/exported-event.ts';
import { type CliCommand, WrongUse } from '../command/command.ts';
import type { CommandRun } from '../command/command-run.ts';
import type { CommandContext } from '../command/context.ts';
import { escapeForTerminal } from '../output/escape-for-terminal.ts';

type Format = 'jsonl' | 'csv';
type ExportOptions = { readonly format: Format; readonly after: TrailPlace; readonly follow?: true };

/** Interval of polling for further events (ms). */
const POLL_INTERVAL_MS = 1000;

/** Adds the command. */
export function addAuditExport(audit: CliCommand, run: CommandRun): void {
  audit
    .leaf('export', 'Print the events, oldest first, for a log collector.', [
      'audit export > trail.jsonl',
      'audit export --after 1042 --format csv',
      'audit export --after 1042 --follow',
    ])
    .addOption(
      new Option('--format <format>', 'one JSON object a line, or CSV').choices(['jsonl', 'csv']).default('jsonl'),
    )
    .option(
      '--after <number:mac>',
      'only events after this one: the "sequence" of your last event, and optionally its "chain_mac", to detect that it is another event',
      readCursor,
      { sequence: 0, mac: null },
    )
    .option('--follow', 'keep printing new events, until stopped')
    .action((options: ExportOptions) => exportTrail(options, run));
}

/** Prints page by page, no faster than it is read. */
async function exportTrail({ format, after, follow }: ExportOptions, run: CommandRun): Promise<void> {
  if (run.json && (follow || format === 'csv'))
    throw new WrongUse('--json prints one array: omit it with --follow and with --format csv');
  const { auditTrail, close } = await run.context.open(false);
  try {
    const { begin, rows, end } = run.json ? ARRAY : FORMATS[format];
    await write(run.context, begin);
    for (let place = after; ; await pause(POLL_INTERVAL_MS)) {
      try {
        for await (const events of auditTrail.eventsAfter(place)) {
          await write(run.context, rows(events.map(exportedEvent), place === after));
          const last = events.at(-1);
          if (last) place = { sequence: last.sequence, mac: last.chain.mac };
        }
      } catch (error) {
        // An event has its number, but its transaction has not ended: a later poll finds it.
        if (!follow || !(error instanceof TrailHeldUp)) throw error;
      }
      if (!follow) break;
    }
    await write(run.context, end);
  } finally {
    await close();
  }
}

async function write({ stdout }: CommandContext, text: string): Promise<void> {
  if (text !== '' && !stdout.write(text)) await once(stdout, 'drain');
}

const FIELDS = [
  ...[
    'sequence',
    'at',
    'action',
    'actor_kind',
    'actor_id',
    'source',
    'request_id',
    'actor_by',
    'client_id',
    'user_id',
    'grant_id',
  ],
  ...['detail', 'ended_access', 'chain_id', 'chain_number', 'chain_mac'],
] as readonly (keyof ExportedEvent)[];

/** The output before the events, for a page of them, and after them. */
type Form = {
  readonly begin: string;
  readonly rows: (events: readonly ExportedEvent[], isFirst: boolean) => string;
  readonly end: string;
};

const FORMATS: Readonly<Record<Format, Form>> = {
  jsonl: { begin: '', rows: (events) => events.map((event) => `${line(event)}\n`).join(''), end: '' },
  // RFC 4180 §2, but for the ends of lines, as tools of a shell expect them.
  csv: {
    begin: `${FIELDS.join(',')}\n`,
    rows: (events) => events.map((event) => `${FIELDS.map((field) => cell(event[field])).join(',')}\n`).join(''),
    end: '',
  },
};

const ARRAY: Form = {
  begin: '[',
  rows: (events, isFirst) =>
    events.map((event, index) => `${isFirst && index === 0 ? '' : ','}\n${line(event)}`).join(''),
  end: '\n]\n',
};

function line(event: ExportedEvent): string {
  return escapeForTerminal(JSON.stringify(event));
}

function cell(value: ExportedEvent[keyof ExportedEvent]): string {
  const text = escapeForTerminal(
    value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value),
  );
  return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function readCursor(text: string): TrailPlace {
  const [, sequence, mac] = /^(\d{1,15})(?::([0-9a-f]{64}))?$/.exec(text) ?? [];
  if (sequence === undefined)
    throw new InvalidArgumentError('give the "sequence" of an event, or that, a colon and its "chain_mac"');
  return { sequence: Number(sequence), mac: mac === undefined ? null : Buffer.from(mac, 'hex') };
}
