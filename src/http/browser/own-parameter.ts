/** Parameters of our own in the address of a page, beside those of the app. */
import { decodeQuery } from '../decoding.ts';

/** The address with this value and no older one: two would be a repeated parameter. */
export function withOwnParameter(url: string, name: string, value: string): string {
  const [path = '', query = ''] = url.split(/\?(.*)/s);
  const others = query.split('&').filter((pair) => pair !== '' && !decodeQuery(pair).has(name));
  return `${path}?${[...others, `${name}=${encodeURIComponent(value)}`].join('&')}`;
}
