/** The URL of a PostgreSQL database. As in libpq it may name several servers: `postgres://user@one:5432,two:5432/database`. */

const PARTS = /^(postgres(?:ql)?:\/\/)((?:[^/?#]*@)?)([^/?#]*)([^?#]*)(.*)$/s;
/** Accepted values of `target_session_attrs`; with each of them, a read-only server is refused. */
const FOR_WRITING = ['any', 'primary', 'read-write'];

/** A database on one server or several. `place` names it for people, without user and password. */
export type PostgresqlUrl = {
  readonly place: string;
  /** The servers in the order of the URL, each with its own URL. */
  readonly servers: readonly [PostgresqlServer, ...PostgresqlServer[]];
};

/** One of the servers. */
export type PostgresqlServer = { readonly url: string; readonly host: string };

/** Reads a URL. Throws `RangeError`, whose message has the remedy and no password. */
export function readPostgresqlUrl(text: string): PostgresqlUrl {
  const [, scheme, user, hosts, path, rest] = PARTS.exec(text) ?? [];
  if (hosts === undefined) throw new RangeError('write postgres://user:password@host/database');
  requireWriting(new URLSearchParams((rest as string).slice(1)));
  const [first = '', ...more] = hosts.split(',');
  if (more.length > 0 && [first, ...more].some((host) => /^(:|$)/.test(host)))
    throw new RangeError('a host is missing beside a comma: write postgres://user:password@one:5432,two:5432/database');
  const server = (host: string): PostgresqlServer => {
    const url = `${scheme}${user}${host}${path}${rest}`;
    if (!URL.canParse(url)) throw new RangeError(unreadable(host, hosts));
    return { url, host: host || 'this machine' };
  };
  return { place: `${hosts || 'this machine'}${path}`, servers: [server(first), ...more.map(server)] };
}

function requireWriting(query: URLSearchParams): void {
  const wanted = query.get('target_session_attrs') ?? 'any';
  if (!FOR_WRITING.includes(wanted))
    throw new RangeError(`target_session_attrs is ${wanted}, but a replica cannot serve: write read-write`);
  if ([...query.getAll('host'), ...query.getAll('port')].some((value) => value.includes(',')))
    throw new RangeError('name several hosts before the database: postgres://user:password@one:5432,two:5432/database');
}

/** A password with an unencoded `/`, `?` or `#` ends up among the hosts: then the message names none of them. */
function unreadable(host: string, hosts: string): string {
  const which =
    /^[\w.,:[\]%-]+$/.test(hosts) && !/:\D/.test(host) ? `"${host}" is no host and port` : 'it cannot be read';
  return `${which}: write postgres://user:password@one:5432,two:5432/database, with special characters of the password encoded, such as %2F for /`;
}
