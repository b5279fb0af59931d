/** URIs that name a resource (RFC 8707 §2): which may, and which name the same one. */

const URI = /^([a-z][a-z0-9+.-]*):(?:\/\/([^/?#]*))?(.*)$/is;
const DEFAULT_PORTS: Readonly<Record<string, string>> = { http: '80', https: '443' };

/** Why a text cannot name a resource (RFC 8707 §2), or null when it can. */
export function resourceProblem(resource: string): string | null {
  if (resource.length > 500 || !/^[\x21-\x7e]+$/.test(resource))
    return 'it must be 1 to 500 printable ASCII characters';
  if (!URL.canParse(resource)) return 'it must be an absolute URI, such as https://api.example.com';
  return resource.includes('#') ? 'it must not have a fragment' : null;
}

/**
 * True if two URIs name one resource. Scheme and host are compared in lower case, the scheme's default port counts as
 * none, and an empty path as `/` (RFC 3986 §6.2.3). The rest is compared exactly: nothing is decoded, and no dot
 * segment removed, since an API may distinguish such paths.
 */
export function isSameResource(one: string, other: string): boolean {
  return one === other || normalized(one) === normalized(other);
}

function normalized(uri: string): string {
  const [, scheme = '', authority, rest = ''] = URI.exec(uri) ?? [];
  const name = scheme.toLowerCase();
  if (authority === undefined) return `${name}:${rest}`;
  const [, user = '', host = '', port = ''] = /^(.*@)?(.*?)(?::([0-9]*))?$/s.exec(authority) ?? [];
  const ownPort = port === '' || port === DEFAULT_PORTS[name] ? '' : `:${port}`;
  const path = rest.startsWith('/') ? rest : `/${rest}`;
  return `${name}://${user}${host.toLowerCase()}${ownPort}${path}`;
}
