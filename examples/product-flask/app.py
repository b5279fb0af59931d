"""Photos: a product with accounts of its own, in one file with Flask, beside ../valetkey_product.py. The lines between the marks
are all that it needs so that its people sign in here for Valetkey.

    OAUTH_URL=http://localhost:3000 OAUTH_SECRET=… python3 examples/product-flask/app.py
"""

import hashlib
import hmac
import logging
import os
import re
import secrets
import sys
import time
import urllib.parse

from flask import Flask, g, make_response, redirect, render_template_string, request
from werkzeug.serving import make_server

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))  # In your product, the file lies beside this one.
from valetkey_product import Valetkey, ValetkeyError  # noqa: E402

OAUTH_URL = os.environ.get("OAUTH_URL", "http://localhost:3000")
OAUTH_SECRET = os.environ.get("OAUTH_SECRET", "")
PORT = int(os.environ.get("PORT", "8000"))

app = Flask(__name__)
app.config["MAX_CONTENT_LENGTH"] = 10_000
logging.getLogger("werkzeug").setLevel(logging.WARNING)  # Its lines hold whole addresses, and so sign-in requests.

# What is known of each browser: who is signed in, and since when. Yours may be Flask's own session.
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
def current_user(_request):
    person = g.session.get("person")
    return person and {
        "subject": person["id"], "name": person["name"], "email": person["email"], "email_verified": True,
        "signed_in_at": g.session["signed_in_at"],
    }


def login_url(next, wish):
    return "/sign-in?" + urllib.parse.urlencode({"next": next, **({"again": "yes"} if wish["must_sign_in"] else {})})


ADDRESS = f"http://localhost:{PORT}/oauth/sign-in"
valetkey = Valetkey(OAUTH_URL, "product", OAUTH_SECRET, ADDRESS, current_user, login_url)
app.add_url_rule("/oauth/sign-in", view_func=valetkey.flask_view, methods=["GET", "POST"])
# <<< Valetkey


@app.get("/")
def home():
    if "person" not in g.session:
        return redirect("/sign-in", 303)
    return page(f"{g.session['person']['name']}’s photos", "There are none yet.", HOME)


@app.get("/sign-in")
def show_sign_in():
    next = safe_path(request.args.get("next", "/"))
    if "person" in g.session and "again" not in request.args:
        return redirect(next, 303)
    pending = valetkey.pending(request.args, request.cookies)
    problem = g.session.pop("problem", "")
    return page("Sign in to Photos", more=render_template_string(SIGN_IN, next=next, pending=pending, problem=problem))


@app.post("/sign-in")
def sign_in():
    person = next((one for one in PEOPLE if one["email"] == request.form.get("email")), None)
    given = hash_of(request.form.get("password", ""), person["salt"] if person else b"")
    to = safe_path(request.form.get("next", "/"))
    if hmac.compare_digest(given, person["hash"] if person else bytes(32)):
        # Another session id for whoever signs in.
        begin_session({**g.session, "person": person, "signed_in_at": time.time()})
        return redirect(to, 303)
    g.session["problem"] = "That is not right. Try again."
    return redirect("/sign-in?" + urllib.parse.urlencode({"next": to, "again": "yes"}), 303)


@app.post("/sign-out")
def sign_out():
    person = g.session.get("person")
    begin_session({})
    if person:
        ask(valetkey.end_sessions, person["id"])
    return redirect("/", 303)


@app.get("/settings")
def settings():
    if "person" not in g.session:
        return redirect("/sign-in?next=/settings", 303)
    listed = ask(valetkey.connections, g.session["person"]["id"], after=request.args.get("after"))
    if listed is None:
        return page("Connected apps", "Your apps can’t be shown right now.", status=503)
    return page("Connected apps", more=render_template_string(SETTINGS, **listed, fields=FIELDS))


@app.post("/settings")
def disconnect():
    if "person" in g.session:
        ask(valetkey.revoke, g.session["person"]["id"], connection_id=request.form.get("connection_id", ""))
    return redirect("/settings", 303)


def ask(call, subject, **options):
    """Makes a call; None if it fails: Photos works without Valetkey."""
    try:
        return call(subject, **options)
    except ValetkeyError as error:
        print(error, file=sys.stderr)


def safe_path(next):
    """A path of this server alone: browsers leave tabs out of an address, and read two slashes as another host."""
    return next if re.fullmatch(r"/(?![/\\])[^\x00-\x1f\x7f-\x9f]*", next) else "/"


HOME = """<p><a href="/settings">Connected apps</a></p>
<form method="post" action="/sign-out"><button>Sign out</button></form>"""

SIGN_IN = """{% if pending %}<p>{{ pending.app_name }} asks for your photos.</p>{% endif %}<p role="alert">{{ problem }}</p>
<form method="post" action="/sign-in"><input type="hidden" name="next" value="{{ next }}">
<label>Email <input name="email" type="email" autocomplete="username" required></label>
<label>Password <input name="password" type="password" autocomplete="current-password" required></label>
<button>Sign in</button></form>
{% if pending %}<form method="post" enctype="text/plain" action="{{ pending.refuse_url }}"><button>No, go back</button></form>{% endif %}"""

FIELDS = {"name": "name", "username": "username", "email": "email", "avatar_url": "picture"}

# A connection as Valetkey's own page shows it. The template escapes what an app says of itself.
SETTINGS = """{% for one in connections %}<section><h2>{{ one.name }}</h2>{% if one.device %}<p>On a device</p>{% endif %}
<p>{{ "by " ~ one.publisher if one.publisher else "Publisher not stated" }} · {{ "checked" if one.is_checked else "not checked" }}
{%- if one.host %} · describes itself at {{ one.host }}{% endif %}{% for host in one.redirect_hosts %} · {{ host }}{% endfor %}
{% if one.homepage %}<a href="{{ one.homepage }}" rel="noreferrer">Website</a>{% endif %}
{% if one.privacy_page %}<a href="{{ one.privacy_page }}" rel="noreferrer">Privacy</a>{% endif %}
{% if one.contact %}<a href="{{ "" if ":" in one.contact else "mailto:" }}{{ one.contact }}" rel="noreferrer">Contact</a>{% endif %}</p>
<ul><li>See who you are: {% for field in one.profile %}{{ "your " if loop.first else ", " }}{{ fields.get(field, field) }}
{%- else %}only an ID{% endfor %}</li>
{% for right in one.permissions %}<li>{{ right.sentence or "Use the permission " ~ right.name }}
{%- set notes = [right.effect, "optional" if right.optional] | select | join(", ") %}{{ " (" ~ notes ~ ")" if notes }}</li>
{% endfor %}</ul>
<p>{% if one.is_waiting %}Allowed {{ one.granted_at[:10] }}. Waiting for the app: expires if the app doesn’t fetch it.
{%- else %}Connected {{ one.granted_at[:10] }}. {{ "Last used " ~ one.last_used_at[:10] if one.last_used_at else "Not used yet" }}.
Ends on {{ one.expires_at_the_latest[:10] }}
{%- if one.expires_at < one.expires_at_the_latest %}, or on {{ one.expires_at[:10] }} without use{% endif %}.{% endif %}</p>
<form method="post" action="/settings"><input type="hidden" name="connection_id" value="{{ one.connection_id }}">
<button>Remove {{ one.name }}</button></form></section>{% else %}<p>No app is connected.</p>{% endfor %}
{% if next %}<a href="/settings?{{ {"after": next} | urlencode }}">More apps</a>{% endif %}"""

PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{{ title }}</title><style>
body { font: 1.1rem/1.5 system-ui, sans-serif; max-width: 26rem; margin: 3rem auto; padding: 0 1rem; color: #1d2b2a; background: #f2f7f5 }
label, form { display: block; margin: 1rem 0 } input, button { font: inherit; padding: .5rem .75rem; box-sizing: border-box }
input { width: 100% } button { border: 1px solid #14635a; border-radius: .4rem; background: #fff; cursor: pointer }
</style><h1>{{ title }}</h1><p>{{ words }}</p>{{ more | safe }}"""


def page(title, words="", more="", status=200):
    return make_response(render_template_string(PAGE, title=title, words=words, more=more), status)


if __name__ == "__main__":
    server = make_server("localhost", PORT, app, threaded=True)
    print(f"Photos: http://localhost:{PORT}", flush=True)
    server.serve_forever()
