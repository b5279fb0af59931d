/** The addresses that an app developer needs, as absolute URLs. */
export type DeveloperAddresses = {
  authorizationUrl: string;
  accessTokenRequestUrl: string;
  refreshTokenRequestUrl: string;
  meUrl: string;
};

/** The values that the other examples use, for a shell. */
export const setUpExample = `CLIENT_ID='…'
CLIENT_SECRET='…'
REDIRECT_URI='https://app.example/callback'`;

/** The examples of the four calls: what to type into a shell, and what comes back. */
export function callExamples(addresses: DeveloperAddresses) {
  return {
    authorize: {
      request: `STATE=$(openssl rand -hex 32)
curl --get --silent --output /dev/null --write-out '%{url_effective}\\n' \\
  --data-urlencode "client_id=$CLIENT_ID" \\
  --data-urlencode "state=$STATE" \\
  --data-urlencode "redirect_uri=$REDIRECT_URI" \\
  '${addresses.authorizationUrl}'`,
      answer: 'https://app.example/callback?code=…&state=…',
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
    "client_id": "…",
    "scope": "calendar.read",
    "granted_at": "2026-11-21T09:30:00.000Z",
    "expires_at": "2026-11-21T10:00:00.000Z"
  }
}`,
    },
  };
}
