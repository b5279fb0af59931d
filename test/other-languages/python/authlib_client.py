"""An app with Authlib, as ../walk.ts runs it."""

import os

from authlib.common.security import generate_token
from authlib.integrations.base_client import OAuthError
from authlib.integrations.requests_client import OAuth2Session

app_url, api_url = os.environ["APP_URL"], os.environ["API_URL"]
token_url = f"{app_url}/oauth2/token"

session = OAuth2Session(
    os.environ["CLIENT_ID"],
    os.environ["CLIENT_SECRET"] or None,
    redirect_uri=os.environ["REDIRECT_URI"],
    scope="read",
    code_challenge_method="S256",
)
verifier = generate_token(48)
url, state = session.create_authorization_url(f"{app_url}/oauth2/authorize", code_verifier=verifier)
print("authorize", url, flush=True)
session.fetch_token(token_url, authorization_response=input(), state=state, code_verifier=verifier)
print("exchange")


def me():
    answer = session.get(f"{api_url}/v2/me")
    print("me", answer.json()["data"]["email"] if answer.ok else answer.status_code)


me()
held = session.token["refresh_token"]
session.refresh_token(token_url)
assert session.token["refresh_token"] != held
print("refresh")
me()
session.revoke_token(f"{app_url}/oauth2/revoke").raise_for_status()
print("revoke")
me()
try:
    session.refresh_token(token_url)
except OAuthError as error:
    print("refresh", error.error)
