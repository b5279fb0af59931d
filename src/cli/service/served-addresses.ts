/** The addresses of a running service, as `serve` prints them. */

/** `operatorUrl` is null if operators have no address. */
export type ServedAddresses = {
  readonly appUrl: string;
  readonly apiUrl: string;
  readonly operatorUrl: string | null;
};

/** Returns a line of JSON, or a line for each address. */
export function servedAddresses({ appUrl, apiUrl, operatorUrl }: ServedAddresses, json: boolean): string {
  const addresses = { app: appUrl, api: apiUrl, ...(operatorUrl !== null && { operator: operatorUrl }) };
  const entries = Object.entries(addresses);
  if (json) return `${JSON.stringify(Object.fromEntries(entries.map(([name, url]) => [`${name}_url`, url])))}\n`;
  return entries.map(([name, url]) => `${name} ${url}\n`).join('');
}
