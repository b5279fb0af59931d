/** The parser of Node.js, called by hand: a server with its connections would take ten times as long. */
/** A request as Node.js reads it. */
export type NodeRequest = {
  readonly line: string;
  /** Names in small letters with all their values, in the order in which they came. */
  readonly headers: ReadonlyMap<string, readonly string[]>;
  readonly isLast: boolean;
  readonly body: Buffer;
  /** Whether all of it has come. */
  readonly isWhole: boolean;
};

/** What it makes of some bytes: requests, then perhaps why it reads no further. */
export type NodeReading = { readonly requests: readonly NodeRequest[]; readonly error: string | null };

type OnHeadersComplete = (
  major: number,
  minor: number,
  headers: string[] | undefined,
  method: number,
  url: string | undefined,
  status: undefined,
  message: undefined,
  upgrade: boolean,
  shouldKeepAlive: boolean,
) => number;

/** As `lib/_http_common.js` of Node.js uses it; it is in no documentation. */
type Parser = {
  initialize(type: number, resource: object, maxHeaderSize: number, lenientFlags: number): void;
  execute(bytes: Buffer): number | Error;
  [event: number]: unknown;
};
type Internals = {
  readonly HTTPParser: (new () => Parser) & Readonly<Record<string, number>>;
  readonly methods: readonly string[];
};

const { HTTPParser, methods } = process.getBuiltinModule('node:_http_common' as 'node:http') as unknown as Internals;

const MAX_HEADER_BYTES = 16 * 1024;
const LENIENT = 0;
const parser = new HTTPParser();

/** Has a parser of Node.js read what came on one connection. */
export function readByNode(bytes: Buffer): NodeReading {
  const requests: { -readonly [Key in keyof NodeRequest]: NodeRequest[Key] }[] = [];
  // One for all: what it holds outside of the heap is not collected.
  parser.initialize(HTTPParser['REQUEST'] as number, {}, MAX_HEADER_BYTES, LENIENT);
  let early: string[] = [];
  let earlyUrl = '';
  const on = (event: string, handle: (...values: never[]) => unknown) => {
    parser[HTTPParser[event] as number] = handle;
  };
  // Of many headers the first ones come before the others.
  on('kOnHeaders', (headers: string[], url: string) => {
    early.push(...headers);
    earlyUrl += url;
  });
  const onHeadersComplete: OnHeadersComplete = (
    major,
    minor,
    headers,
    method,
    url,
    _status,
    _message,
    _upgrade,
    keeps,
  ) => {
    const line = `${methods[method]} ${url ?? earlyUrl} HTTP/${major}.${minor}`;
    requests.push({ line, headers: byName(headers ?? early), isLast: !keeps, body: NOTHING, isWhole: false });
    early = [];
    earlyUrl = '';
    return 0;
  };
  on('kOnHeadersComplete', onHeadersComplete);
  on('kOnBody', (part: Buffer) => {
    const request = requests.at(-1);
    if (request) request.body = Buffer.concat([request.body, part]);
  });
  on('kOnMessageComplete', () => {
    const request = requests.at(-1);
    if (request) request.isWhole = true;
    // What came behind a chunked body, with the address once more.
    early = [];
    earlyUrl = '';
  });
  const end = parser.execute(bytes);
  return { requests, error: typeof end === 'number' ? null : ((end as NodeJS.ErrnoException).code ?? end.message) };
}

const NOTHING = Buffer.alloc(0);

function byName(headers: readonly string[]): Map<string, string[]> {
  const all = new Map<string, string[]>();
  for (let at = 0; at < headers.length; at += 2) {
    const [name, value] = [(headers[at] as string).toLowerCase(), headers[at + 1] as string];
    const values = all.get(name);
    if (values) values.push(value);
    else all.set(name, [value]);
  }
  return all;
}
