"""Photos: a product with accounts of its own, in one file with Flask. The lines between the marks are all that it needs so
that its people sign in here for Valetkey.

    OAUTH_URL=http://localhost:3000 OAUTH_SECRET=… python3 examples/product-flask/app.py
"""

import hashlib
import hmac
import json
import logging
import os
import secrets
import sys
import time
import urllib.error
import urllib.request

from flask import Flask, g, make_response, redirect, render_template_string, request
from werkzeug.serving import make_server

OAUTH_URL = os.environ.get("OAUTH_URL", "http://localhost:3000")
OAUTH_SECRET = os.environ.get("OAUTH_SECRET", "")
PORT = int(os.environ.get("PORT", "8000"))

app = Flask(__name__)
app.config["MAX_CONTENT_LENGTH"] = 10_000
logging.getLogger("werkzeug").setLevel(logging.WARNING)  # Its lines hold whole addresses, and so sign-in requests.

# What is known of each browser: who is signed in, and since when. Flask's own session is a cookie, which is too small for
# a sign-in request.
SESSIONS = {}


def make_person(id, name, email, password):
    salt = os.urandom(16)
    return {"id": id, "name": name, "email": email, "salt": salt, "hash": hash_of(password, salt)}


def hash_of(password, salt):
    return hashlib.scrypt(password.encode(), salt=salt, n=16384, r=8, p=1, dklen=32)


PEOPLE = [
    make_person("p-17", "Ada Lovelace", "ada@example.com", "numbers and poems"),
    make_person("p-42", "Grace Hopper", "grace@example.com", "a moth in relay 70"),
]


@app.before_request
def find_session():
    session = SESSIONS.get(request.cookies.get("photos", ""))
    # Another site's form comes without the cookie, which is SameSite=Lax.
    if session is None and request.method != "GET":
        return page("This form is not from here", status=403)
    g.new_id = None
    g.session = begin_session({}) if session is None else session


def begin_session(session):
    g.new_id = secrets.token_urlsafe(24)
    SESSIONS[g.new_id] = session
    return session


@app.after_request
def keep_session(response):
    response.headers["Cache-Control"] = "no-store"
    if g.get("new_id"):  # On https: secure=True as well.
        response.set_cookie("photos", g.new_id, httponly=True, samesite="Lax")
    return response


# >>> Valetkey
@app.route("/oauth/sign-in", methods=["GET", "POST"])
def sign_in_for_valetkey():
    if "sign_in_request" in request.args:  # Keep the query in the session, not in the URL.
        g.session["asked"] = {**request.args, "since": time.time()}
        return redirect("/oauth/sign-in", 303)
    asked, person, answer = g.session.get("asked"), g.session.get("person"), request.form.get("answer")
    if asked is None:
        return page("Nothing waits here", "Go back to the app, and begin again there.", status=400)
    prompt, signed_in_at = asked.get("prompt", ""), g.session.get("signed_in_at", 0)
    max_age = 0 if "login" in prompt else float(asked.get("max_age", "inf"))
    is_in = person is not None and signed_in_at >= asked["since"] - max_age
    is_sure = "select_account" not in prompt or signed_in_at >= asked["since"] or answer == "yes"
    if answer != "no" and not (is_in and is_sure):
        return sign_in_page("/oauth/sign-in", asked.get("client_name"), person["name"] if is_in else None)
    who = {"error": "access_denied"} if answer == "no" else {"subject": person["id"], "auth_time": int(signed_in_at)}
    who |= {} if answer == "no" else {"name": person["name"], "email": person["email"], "email_verified": True}
    us = {"client_id": "product", "client_secret": OAUTH_SECRET, "sign_in_request": asked["sign_in_request"]}
    said = post(f"{OAUTH_URL}/api/auth/oauth/sign-in", us | who)
    del g.session["asked"]
    if "redirect_to" in said:
        return redirect(said["redirect_to"], 303)
    words = "Your account is closed there." if said["error"] == "access_denied" else "Begin again at the app, please."
    return page("You are not connected", words, status=502)
# <<< Valetkey


@app.get("/")
def home():
    if "person" not in g.session:
        return sign_in_page("/")
    return page(f"{g.session['person']['name']}’s photos", "There are none yet.", SIGN_OUT)


@app.post("/sign-in")
def sign_in():
    person = next((one for one in PEOPLE if one["email"] == request.form.get("email")), None)
    given = hash_of(request.form.get("password", ""), person["salt"] if person else b"")
    if hmac.compare_digest(given, person["hash"] if person else bytes(32)):
        # Another session id for whoever signs in.
        begin_session({**g.session, "person": person, "signed_in_at": time.time()})
    else:
        g.session["problem"] = "That is not right. Try again."
    return redirect("/oauth/sign-in" if request.form.get("next") == "/oauth/sign-in" else "/", 303)


@app.post("/sign-out")
def sign_out():
    begin_session({})
    return redirect("/", 303)


def post(url, body):
    sent = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(sent, timeout=10) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as refused:
        said = refused.read().decode(errors="replace")
        print("Valetkey:", said, file=sys.stderr)  # For the operator. The user sees only the page.
        return json.loads(said) if said.startswith('{"error"') else {"error": "unavailable"}
    except OSError as failed:
        print("Valetkey:", failed, file=sys.stderr)
        return {"error": "unavailable"}


SIGN_OUT = '<form method="post" action="/sign-out"><button>Sign out</button></form>'

SIGN_IN = """<p>{% if app %}{{ app }} asks for your photos.{% endif %}</p><p role="alert">{{ problem }}</p>
<form method="post" action="/sign-in"><input type="hidden" name="next" value="{{ next }}">
<label>Email <input name="email" type="email" autocomplete="username" required></label>
<label>Password <input name="password" type="password" autocomplete="current-password" required></label>
<button>Sign in</button></form>
{# >>> Valetkey #}
{% if next != "/" %}<form method="post">{% if who %}<button name="answer" value="yes">Go on as {{ who }}</button>{% endif %}
<button name="answer" value="no">No, go back</button></form>{% endif %}
{# <<< Valetkey #}"""

PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{{ title }}</title><style>
body { font: 1.1rem/1.5 system-ui, sans-serif; max-width: 26rem; margin: 3rem auto; padding: 0 1rem; color: #1d2b2a; background: #f2f7f5 }
label, form { display: block; margin: 1rem 0 } input, button { font: inherit; padding: .5rem .75rem; box-sizing: border-box }
input { width: 100% } button { border: 1px solid #14635a; border-radius: .4rem; background: #fff; cursor: pointer }
</style><h1>{{ title }}</h1><p>{{ words }}</p>{{ more | safe }}"""


def sign_in_page(next, app=None, who=None):
    problem = g.session.pop("problem", "")
    form = render_template_string(SIGN_IN, next=next, app=app, who=who, problem=problem)
    return page("Sign in to Photos", more=form)


def page(title, words="", more="", status=200):
    return make_response(render_template_string(PAGE, title=title, words=words, more=more), status)


if __name__ == "__main__":
    server = make_server("localhost", PORT, app, threaded=True)
    print(f"Photos: http://localhost:{PORT}", flush=True)
    server.serve_forever()
