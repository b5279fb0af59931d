/** Remedies for an untrusted TLS certificate, by the reason. */

/** The place of a certificate: the requested host, its server, and the others who must trust it. */
export type Shown = {
  readonly hostname: string;
  readonly by: 'the proxy' | 'the product';
  readonly to: 'browsers' | 'browsers and apps';
};

/**
 * The remedy for a request that failed with this code of Node.js or OpenSSL, or `UNRECOGNIZED_NAME`, at a time by the clock of
 * this machine (ms since the epoch); undefined where it is not about a certificate.
 */
export function certificateRemedy(code: string, at: number, { hostname, by, to }: Shown): string | undefined {
  const clock = `set the clock of this machine if it is not ${new Date(at).toISOString().slice(0, 16)} UTC`;
  const trust = (what: string) =>
    `set NODE_EXTRA_CA_CERTS for this command to the file of ${what}, and make ${to} trust it as well; or get a certificate from a public authority`;
  switch (code) {
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
      return trust('this certificate itself');
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
      return trust('the certificate of the authority');
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
      return `configure ${by} to send the whole chain (nginx: add the intermediate certificate to the file of ssl_certificate); with an authority of your own, ${trust('its certificate')}`;
    case 'CERT_HAS_EXPIRED':
      return `renew it, make ${by} load the new one, and find out why no renewal happened; or ${clock}`;
    case 'CERT_NOT_YET_VALID':
      return `${clock}; otherwise configure a valid certificate at ${by}`;
    case 'UNRECOGNIZED_NAME':
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `configure a certificate for ${hostname} at ${by} (nginx: server_name and ssl_certificate of its server), or get one that names it`;
    default:
      return undefined;
  }
}
