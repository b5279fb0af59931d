"""An app with requests-oauthlib, as ../walk.ts runs it."""

import os

os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"  # The service under test is on loopback, without TLS.

import requests
from oauthlib.oauth2 import InvalidGrantError, WebApplicationClient
from requests.auth import HTTPBasicAuth
from requests_oauthlib import OAuth2Session

app_url, api_url = os.environ["APP_URL"], os.environ["API_URL"]
client_id, client_secret = os.environ["CLIENT_ID"], os.environ["CLIENT_SECRET"]
token_url = f"{app_url}/oauth2/token"

client = WebApplicationClient(client_id)
session = OAuth2Session(client=client, redirect_uri=os.environ["REDIRECT_URI"], scope=["read"])
verifier = client.create_code_verifier(64)
url, _ = session.authorization_url(
    f"{app_url}/oauth2/authorize",
    code_challenge=client.create_code_challenge(verifier, "S256"),
    code_challenge_method="S256",
)
print("authorize", url, flush=True)

# The library sends the credentials as Basic by itself; a public client says that its id belongs into the body.
if client_secret:
    first = {"client_secret": client_secret}
    later = {"auth": HTTPBasicAuth(client_id, client_secret)}
else:
    first = {"include_client_id": True}
    later = {"client_id": client_id}
session.fetch_token(token_url, authorization_response=input(), code_verifier=verifier, **first)
print("exchange")


def me():
    answer = session.get(f"{api_url}/v2/me")
    print("me", answer.json()["data"]["email"] if answer.ok else answer.status_code)


me()
held = session.token["refresh_token"]
session.refresh_token(token_url, **later)
assert session.token["refresh_token"] != held
print("refresh")
me()
revocation_url, headers, body = client.prepare_token_revocation_request(
    f"{app_url}/oauth2/revoke",
    session.token["refresh_token"],
    token_type_hint="refresh_token",
    **({} if client_secret else {"client_id": client_id}),
)
requests.post(revocation_url, headers=headers, data=body, auth=later.get("auth")).raise_for_status()
print("revoke")
me()
try:
    session.refresh_token(token_url, **later)
except InvalidGrantError as error:
    print("refresh", error.error)
