"""An app with Authlib and Flask, as ../walk.ts runs it: it signs a user in."""

import os
import sys

from authlib.integrations.flask_client import OAuth
from flask import Flask, jsonify

app = Flask(__name__)
app.secret_key = os.urandom(32)
provider = OAuth(app).register(
    "provider",
    client_id=os.environ["CLIENT_ID"],
    client_secret=os.environ["CLIENT_SECRET"],
    client_kwargs={"scope": "openid profile email", "code_challenge_method": "S256"},
    server_metadata_url=f"{os.environ['APP_URL']}/.well-known/openid-configuration",
)


@app.get("/sign-in")
def sign_in():
    return provider.authorize_redirect(os.environ["REDIRECT_URI"])


@app.get("/callback")
def callback():
    token = provider.authorize_access_token()
    return jsonify(id_token=token["userinfo"], userinfo=provider.userinfo(token=token))


browser = app.test_client()
origin = os.environ["REDIRECT_URI"].removesuffix("/callback")
print("authorize", browser.get("/sign-in", base_url=origin).location, flush=True)
answer = browser.get(input().removeprefix(origin), base_url=origin)
if answer.status_code != 200:
    sys.exit(answer.text)
print("exchange")
told = answer.get_json()
assert told["id_token"]["sub"] == told["userinfo"]["sub"]
print("id_token", told["id_token"]["email"])
print("userinfo", told["userinfo"]["email"])
