/** The schemes that no app may register, against IANA's registry. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refusedScheme } from '../../src/oauth/clients/refused-schemes.ts';

/** All entries with the status Permanent, as https://www.iana.org/assignments/uri-schemes had them on 18 November 2022. */
const PERMANENT =
  `aaa aaas about acap acct cap cid coap coap+tcp coap+ws coaps coaps+tcp coaps+ws crid data dav dict dns
  dtn example file ftp geo go gopher h323 http https iax icap im imap info ipn ipp ipps iris iris.beep iris.lwz iris.xpc
  iris.xpcs jabber ldap leaptofrogans mailto mid msrp msrps mtqp mupdate news nfs ni nih nntp opaquelocktoken pkcs11 pop
  pres reload rtsp rtsps rtspu service session shttp sieve sip sips sms snmp soap.beep soap.beeps stun stuns tag tel
  telnet tftp thismessage tip tn3270 turn turns tv urn vemmi vnc ws wss xcon xcon-userid xmlrpc.beep xmlrpc.beeps xmpp
  z39.50r z39.50s`.split(/\s+/);

test('RFC 8252 §7.1: no app can have a permanent scheme of the registry', () => {
  assert.equal(PERMANENT.length, 97);
  const free = PERMANENT.filter((scheme) => refusedScheme(scheme) === null);
  assert.deepEqual(free, []);
});

test('RFC 8252 §7.1: apps can have schemes that the registry lists as provisional or historical', () => {
  // The registry names whom a provisional scheme belongs to: vscode and others are schemes of apps.
  for (const scheme of ['vscode', 'vscode-insiders', 'spotify', 'steam', 'swid', 'swidpath', 'upt', 'z39.50'])
    assert.equal(refusedScheme(scheme), null, scheme);
});
