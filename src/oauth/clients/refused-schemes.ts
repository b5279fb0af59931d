/** Schemes that no client may have as a private-use one (RFC 8252 §7.1), each with the reason. */

/**
 * The permanent entries of IANA's registry of URI schemes (RFC 7595 §4): each belongs to a protocol. Compared on 2026-11-26 with
 * copies of https://www.iana.org/assignments/uri-schemes: its page of 2022-11-18, with each entry's status; the names of
 * 2026-09-11, which hold them all. `mt` was provisional in 2022 and is listed as permanent since.
 */
const REGISTERED = new Set(
  `aaa aaas about acap acct cap cid coap coap+tcp coap+ws coaps coaps+tcp coaps+ws crid data dav dict dns dtn example
  file ftp geo go gopher h323 http https iax icap im imap info ipn ipp ipps iris iris.beep iris.lwz iris.xpc iris.xpcs
  jabber ldap leaptofrogans mailto mid msrp msrps mt mtqp mupdate news nfs ni nih nntp opaquelocktoken pkcs11 pop pres
  reload rtsp rtsps rtspu service session shttp sieve sip sips sms snmp soap.beep soap.beeps stun stuns tag tel
  telnet tftp thismessage tip tn3270 turn turns tv urn vemmi vnc ws wss xcon xcon-userid xmlrpc.beep xmlrpc.beeps xmpp
  z39.50r z39.50s`.split(/\s+/),
);

/** Other schemes that lead to no app of the client's maker. */
const OTHERS: readonly (readonly [scheme: RegExp, reason: string])[] = [
  [/^(javascript|vbscript)$/, 'it runs a script in the browser'],
  [/^(data|file|about|blob|view-source)$/, 'the browser opens it itself'],
  [/^intent$/, 'on Android it starts whichever app the address names'],
  [/^ms-/, 'it belongs to Windows'],
  [/^(chrome|moz)/, 'it belongs to a browser and its extensions'],
  [/^localhost$/, 'it is a host name: write http:// before it'],
];

/** The reason why a scheme (lower case, without its colon) cannot be a private-use one; null if it can. */
export function refusedScheme(scheme: string): string | null {
  const other = OTHERS.find(([pattern]) => pattern.test(scheme))?.[1];
  if (other !== undefined) return other;
  return REGISTERED.has(scheme) ? "it belongs to a protocol (IANA's registry of URI schemes)" : null;
}
