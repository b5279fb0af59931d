/** The addresses of this service that developers are told. */
import type { Client } from '../../oauth/clients/client.ts';
import { takesSecret } from '../hand-over/hand-over.ts';

/** The addresses of one face that an app's developer needs, beside id and secret. */
export type FaceEndpoints = {
  readonly authorizationUrl: string;
  readonly accessTokenRequestUrl: string;
  readonly refreshTokenRequestUrl: string;
};

/** The addresses for developers: those of both faces, and what only the standard face has. */
export type Endpoints = Readonly<Record<'published' | 'standard', FaceEndpoints>> & {
  /** `{app_url}`: the issuer, from which an OAuth library finds all other addresses (RFC 8414 §2). */
  readonly issuer: string;
  readonly metadataUrl: string;
  readonly deviceAuthorizationUrl: string;
  readonly introspectionUrl: string;
  readonly revocationStreamUrl: string;
  /** The address at which an identity provider states who signed in. */
  readonly signInEndpoint: string;
};

/** Returns the addresses of an app, and the one for devices if it may use it. The published face requires a secret. */
export function endpointsFor(
  client: Client,
  endpoints: Endpoints,
): FaceEndpoints & { readonly deviceAuthorizationUrl: string | null } {
  const isPublished = takesSecret({ kind: 'client', row: client }) && !client.deviceFlow;
  const face = endpoints[isPublished ? 'published' : 'standard'];
  return { ...face, deviceAuthorizationUrl: client.deviceFlow ? endpoints.deviceAuthorizationUrl : null };
}
