/** The addresses of the published face, as absolute URLs. */
export type PublishedAddresses = {
  authorizationUrl: string;
  accessTokenRequestUrl: string;
  refreshTokenRequestUrl: string;
  meUrl: string;
};

/** The addresses of the standard face, as absolute URLs. */
export type StandardAddresses = {
  issuer: string;
  metadataUrl: string;
  authorizationUrl: string;
  tokenUrl: string;
  revocationUrl: string;
  introspectionUrl: string;
  pushedAuthorizationRequestUrl: string;
  deviceAuthorizationUrl: string;
  revocationStreamUrl: string;
};

/**
 * Returns true for a client ID that the examples may hold. They are pasted into a shell, and a link can bring any text:
 * what could end its quotes is refused.
 */
export function isFillable(clientId: string): boolean {
  return /^[\w.~:/?&=@%+-]{1,255}$/.test(clientId);
}

/** Returns the values that the programs of `developers-programs.ts` read, for a shell. */
export function programSetUp(clientId: string | null): string {
  return `export CLIENT_ID='${clientId ?? '…'}'
export CLIENT_SECRET='…'
export REDIRECT_URI='https://app.example/callback'`;
}

/** An API with `@valetkey/verify` in Express. */
export function verifierExample(issuer: string): string {
  const imports = [
    "import { createVerifier } from '@valetkey/verify';",
    "import { principalOf, requireToken } from '@valetkey/verify/express';",
  ];
  return `${imports.join('\n')}

const verifier = createVerifier({ issuer: '${issuer}', id, secret });

app.get('/notes', requireToken(verifier, { scopes: ['notes.read'] }), (request, response) => {
  response.json(notesOf(principalOf(request).sub));
});`;
}

/** An example of introspection from a shell. */
export function introspectionExample(introspectionUrl: string): string {
  return `curl --user "$RESOURCE_SERVER_ID:$RESOURCE_SERVER_SECRET" \\
  --data-urlencode "token=$ACCESS_TOKEN" \\
  '${introspectionUrl}'`;
}

/** An introspection answer for a valid token. */
export function introspectionAnswer(issuer: string): string {
  return `{
  "active": true,
  "scope": "notes.read",
  "client_id": "app_…",
  "sub": "usr_…",
  "username": "ada",
  "token_type": "Bearer",
  "exp": 1795255200,
  "iss": "${issuer}",
  "grant_id": "…"
}`;
}

/** Returns the values that the other examples use, for a shell. */
export function setUpExample(clientId: string | null): string {
  return `CLIENT_ID='${clientId ?? '…'}'
CLIENT_SECRET='…'
REDIRECT_URI='https://app.example/callback'`;
}

/** Returns the examples of the four calls: the shell commands and the answers. */
export function callExamples(addresses: PublishedAddresses, clientId: string | null) {
  return {
    authorize: {
      address: `${addresses.authorizationUrl}?client_id=${encodeURIComponent(clientId ?? 'CLIENT_ID')}&state=STATE&redirect_uri=https%3A%2F%2Fapp.example%2Fcallback`,
      request: `STATE=$(openssl rand -hex 32)
curl --get --silent --output /dev/null --write-out '%{url_effective}\\n' \\
  --data-urlencode "client_id=$CLIENT_ID" \\
  --data-urlencode "state=$STATE" \\
  --data-urlencode "redirect_uri=$REDIRECT_URI" \\
  '${addresses.authorizationUrl}'`,
      answer: 'https://app.example/callback?code=vk_ac_…&state=…',
    },
    exchange: {
      request: `CODE='…'
curl --data grant_type=authorization_code \\
  --data-urlencode "code=$CODE" \\
  --data-urlencode "client_id=$CLIENT_ID" \\
  --data-urlencode "client_secret=$CLIENT_SECRET" \\
  --data-urlencode "redirect_uri=$REDIRECT_URI" \\
  '${addresses.accessTokenRequestUrl}'`,
      answer: '{"access_token":"…","refresh_token":"…"}',
    },
    refresh: {
      request: `REFRESH_TOKEN='…'
curl --header "Authorization: Bearer $REFRESH_TOKEN" \\
  --data grant_type=refresh_token \\
  --data-urlencode "client_id=$CLIENT_ID" \\
  --data-urlencode "client_secret=$CLIENT_SECRET" \\
  '${addresses.refreshTokenRequestUrl}'`,
      answer: '{"access_token":"…","refresh_token":"…"}',
    },
    me: {
      request: `ACCESS_TOKEN='…'
curl --header "Authorization: Bearer $ACCESS_TOKEN" \\
  '${addresses.meUrl}'`,
      answer: `{
  "status": "success",
  "data": {
    "id": "…",
    "username": "ada",
    "email": "ada@example.com",
    "name": "Ada Lovelace",
    "avatar_url": null
  },
  "authorization": {
    "client_id": "${clientId ?? '…'}",
    "scope": "calendar.read",
    "granted_at": "2026-11-21T09:30:00.000Z",
    "expires_at": "2026-11-21T10:00:00.000Z"
  }
}`,
    },
  };
}
