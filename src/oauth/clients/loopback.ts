/** Addresses of this machine alone, which plain http may carry: what is sent there crosses no network. */

/** True if a host, as `URL.hostname` writes it, is loopback: `localhost`, `[::1]` or an IPv4 address of 127.0.0.0/8. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);
}
