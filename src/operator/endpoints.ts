/** The addresses of this service that developers are told. */

/** The addresses of one face that an app's developer needs, beside id and secret. */
export type FaceEndpoints = {
  readonly authorizationUrl: string;
  readonly accessTokenRequestUrl: string;
  readonly refreshTokenRequestUrl: string;
};

/** The addresses for developers: those of both faces, and what only the standard face has. */
export type Endpoints = Readonly<Record<'published' | 'standard', FaceEndpoints>> & {
  /** `{app_url}`: what an OAuth library needs to find the rest (RFC 8414 §2). */
  readonly issuer: string;
  readonly metadataUrl: string;
  readonly deviceAuthorizationUrl: string;
  readonly introspectionUrl: string;
  readonly revocationStreamUrl: string;
  /** The address at which an identity provider states who signed in. */
  readonly signInEndpoint: string;
};
