/**
 * Transcripts: text files of what an operator types and what comes back, which read as documentation and fail as tests.
 *
 *     # Says what follows.
 *     $ valetkey client show <client>      "quoted words" are read as JSON reads them
 *     stdin: "correct horse\n"             what is piped in, if anything is
 *     Client ID  <client>                  standard output; `…` is any text, on a line of its own any lines
 *     stderr: Next: …                      standard error, after standard output
 *     [exit 2]                             unless it is 0
 *
 * Beside `valetkey`, `allow CLIENT USER` stands for what a user does in a browser, and `file NAME` makes a file of its
 * standard input in the working directory.
 *
 * A placeholder (`<client>`, `<client2>`, `<secret>`, …) is bound where it is first met in what comes back. What a
 * `<secret>`, `<password>`, `<token>` or standard input held must never come back again.
 */
import assert from 'node:assert/strict';

/** Runs one command, given as words and standard input, and returns what came back, in the form above. */
export type RunCommand = (words: readonly string[], stdin: string) => Promise<string>;

type Step = { readonly line: string; readonly stdin: string; readonly expected: string };

const FORMS: Readonly<Record<string, string>> = {
  client: 'app_[0-9a-z]{16}',
  server: 'rs_[0-9a-z]{16}',
  user: 'usr_[0-9a-z]{16}',
  grant: '[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}',
  operator: 'opr_[0-9a-z]{16}',
  operatorkey: 'opk_[0-9a-z]{16}',
  secret: 'vk_(?:cs|rs|ps|ok)_[A-Za-z0-9_-]{40,}',
  password: '[a-z2-9]{5}(?:-[a-z2-9]{5}){3}',
  key: '[0-9a-f]{8}',
  checkpoint: 'valetkey-checkpoint\\.1\\.[A-Za-z0-9._-]+',
  token: '(?:usr_[0-9a-z]{16}\\.)?[A-Za-z0-9_-]{43}',
};
const TIME =
  '\\d{4}-\\d\\d-\\d\\d(?: \\d\\d:\\d\\d:\\d\\d(?: UTC)?| \\d\\d:\\d\\d UTC|T\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z)';
const PLACEHOLDER = /<((client|server|user|grant|operatorkey|operator|secret|password|key|token|checkpoint)\d?)>/g;

/** Plays a transcript, and throws at the first answer that is not the expected one. */
export async function playTranscript(text: string, run: RunCommand): Promise<void> {
  const bound = new Map<string, string>();
  const secrets = new Set<string>();
  for (const { line, stdin, expected } of readSteps(text)) {
    const filled = line.replace(PLACEHOLDER, (_, name: string) => {
      assert.ok(bound.has(name), `<${name}> is used before it is bound: ${line}`);
      return bound.get(name) ?? '';
    });
    const answer = await run(readWords(filled), stdin);
    const met = patternOf(expected, bound).exec(answer);
    if (!met) assert.equal(answer, expected, `$ ${filled}`);
    if (stdin !== '') secrets.add(stdin.trimEnd());
    for (const secret of secrets) assert.ok(!answer.includes(secret), `a secret came back: $ ${filled}`);
    for (const [name, value] of Object.entries(met?.groups ?? {})) {
      bound.set(name, value);
      if (/^(secret|password|token)/.test(name)) secrets.add(value);
    }
  }
}

function readSteps(text: string): Step[] {
  const [, ...blocks] = text.replace(/^# \S.*\n/gm, '').split(/^\$ /m);
  return blocks.map((block) => {
    const [line = '', ...rest] = block.trimEnd().split('\n');
    const [, stdin = '""'] = /^stdin: (.*)$/.exec(rest[0] ?? '') ?? [];
    const expected = rest.slice(stdin === '""' ? 0 : 1);
    return { line, stdin: JSON.parse(stdin) as string, expected: expected.map((each) => `${each}\n`).join('') };
  });
}

function readWords(line: string): string[] {
  const words = line.match(/"(?:[^"\\]|\\.)*"|\S+/g) ?? [];
  return words.map((word) => (word.startsWith('"') ? (JSON.parse(word) as string) : word));
}

/** The expectation as a pattern, in which placeholders that are not bound yet are named groups. */
function patternOf(expected: string, bound: ReadonlyMap<string, string>): RegExp {
  const named = new Set<string>();
  const sources = expected.split(/(^…\n|…|<[a-z]+\d?>)/m).map((part) => {
    if (part === '…\n') return '(?:.*\\n)*?';
    if (part === '…') return '.*';
    if (part === '<time>') return TIME;
    const [[, name = '', kind = ''] = []] = part.matchAll(PLACEHOLDER);
    if (name === '') return literally(part);
    if (bound.has(name)) return literally(bound.get(name) ?? '');
    if (named.has(name)) return `\\k<${name}>`;
    named.add(name);
    return `(?<${name}>${FORMS[kind]})`;
  });
  return new RegExp(`^${sources.join('')}$`);
}

function literally(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
