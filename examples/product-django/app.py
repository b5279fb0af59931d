"""Photos: a product with accounts of its own, in one file with Django, beside ../valetkey_product.py. The lines between the marks
are all that it needs so that its people sign in here for Valetkey.

    OAUTH_URL=http://localhost:3000 OAUTH_SECRET=… python3 examples/product-django/app.py
"""

import os
import secrets
import sys
import tempfile
import urllib.parse

import django
from django.conf import settings
from django.core.servers.basehttp import ThreadedWSGIServer, WSGIRequestHandler
from django.core.wsgi import get_wsgi_application
from django.http import HttpResponse
from django.shortcuts import redirect
from django.template import engines
from django.urls import path
from django.utils.http import url_has_allowed_host_and_scheme

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))  # In your product, the file lies beside this one.
from valetkey_product import Valetkey, ValetkeyError  # noqa: E402

OAUTH_URL = os.environ.get("OAUTH_URL", "http://localhost:3000")
OAUTH_SECRET = os.environ.get("OAUTH_SECRET", "")
PORT = int(os.environ.get("PORT", "8000"))
FOLDER = tempfile.TemporaryDirectory()

settings.configure(
    SECRET_KEY=secrets.token_urlsafe(),
    ALLOWED_HOSTS=["localhost"],
    ROOT_URLCONF=__name__,
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": os.path.join(FOLDER.name, "photos.db")}},
    DEFAULT_AUTO_FIELD="django.db.models.AutoField",
    INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions"],
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.middleware.csrf.CsrfViewMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
    ],
    TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates"}],
    USE_TZ=True,
)
django.setup()

from django.contrib.auth import authenticate, get_user_model, login, logout  # noqa: E402
from django.core.management import call_command  # noqa: E402


# >>> Valetkey
def current_user(request):
    user = request.user
    if not user.is_authenticated:
        return None
    return {
        "subject": str(user.pk), "name": user.get_full_name(), "email": user.email, "email_verified": True,
        "signed_in_at": user.last_login.timestamp(),
    }


def login_url(next, wish):
    return "/sign-in?" + urllib.parse.urlencode({"next": next, **({"again": "yes"} if wish["must_sign_in"] else {})})


ADDRESS = f"http://localhost:{PORT}/oauth/sign-in"
valetkey = Valetkey(OAUTH_URL, "product", OAUTH_SECRET, ADDRESS, current_user, login_url)
# <<< Valetkey


def home(request):
    if not request.user.is_authenticated:
        return redirect("/sign-in")
    return page(f"{request.user.get_full_name()}’s photos", "There are none yet.", render(HOME, request))


def sign_in(request):
    given = request.POST if request.method == "POST" else request.GET
    next = given.get("next", "/")
    if not url_has_allowed_host_and_scheme(next, allowed_hosts=None):
        next = "/"
    problem = ""
    if request.method == "POST":
        user = authenticate(request, username=given.get("email", ""), password=given.get("password", ""))
        if user:
            login(request, user)
            return redirect(next)
        problem = "That is not right. Try again."
    elif request.user.is_authenticated and "again" not in given:
        return redirect(next)
    pending = valetkey.pending(given, request.COOKIES)
    more = render(SIGN_IN, request, next=next, pending=pending, problem=problem)
    return page("Sign in to Photos", more=more)


def sign_out(request):
    if request.method == "POST":
        subject = str(request.user.pk)
        logout(request)
        ask(valetkey.end_sessions, subject)
    return redirect("/sign-in")


def connected_apps(request):
    if not request.user.is_authenticated:
        return redirect("/sign-in?next=/settings")
    subject = str(request.user.pk)
    if request.method == "POST":
        ask(valetkey.revoke, subject, connection_id=request.POST.get("connection_id", ""))
        return redirect("/settings")
    listed = ask(valetkey.connections, subject, after=request.GET.get("after"))
    if listed is None:
        return page("Connected apps", "Your apps can’t be shown right now.", status=503)
    for one in listed["connections"]:
        one["profile"] = ", ".join(FIELDS.get(field, field) for field in one["profile"])
    return page("Connected apps", more=render(SETTINGS, request, **listed))


def ask(call, subject, **options):
    """Makes a call; None if it fails: Photos works without Valetkey."""
    try:
        return call(subject, **options)
    except ValetkeyError as error:
        print(error, file=sys.stderr)


urlpatterns = [
    path("", home),
    path("sign-in", sign_in),
    path("sign-out", sign_out),
    path("settings", connected_apps),
    path("oauth/sign-in", valetkey.django_view),  # Valetkey
]

HOME = """<p><a href="/settings">Connected apps</a></p>
<form method="post" action="/sign-out">{% csrf_token %}<button>Sign out</button></form>"""

SIGN_IN = """{% if pending %}<p>{{ pending.app_name }} asks for your photos.</p>{% endif %}<p role="alert">{{ problem }}</p>
<form method="post" action="/sign-in">{% csrf_token %}<input type="hidden" name="next" value="{{ next }}">
<label>Email <input name="email" type="email" autocomplete="username" required></label>
<label>Password <input name="password" type="password" autocomplete="current-password" required></label>
<button>Sign in</button></form>
{% if pending %}<form method="post" enctype="text/plain" action="{{ pending.refuse_url }}"><button>No, go back</button></form>{% endif %}"""

FIELDS = {"name": "name", "username": "username", "email": "email", "avatar_url": "picture"}

# A connection as Valetkey's own page shows it. The template escapes what an app says of itself.
SETTINGS = """{% for one in connections %}<section><h2>{{ one.name }}</h2>{% if one.device %}<p>On a device</p>{% endif %}
<p>{% if one.publisher %}by {{ one.publisher }}{% else %}Publisher not stated{% endif %}
· {{ one.is_checked|yesno:"checked,not checked" }}
{% if one.host %}· describes itself at {{ one.host }}{% endif %}{% for host in one.redirect_hosts %}· {{ host }}
{% endfor %}{% if one.homepage %}<a href="{{ one.homepage }}" rel="noreferrer">Website</a>{% endif %}
{% if one.privacy_page %}<a href="{{ one.privacy_page }}" rel="noreferrer">Privacy</a>{% endif %}
{% if one.contact %}<a href="{% if ":" not in one.contact %}mailto:{% endif %}{{ one.contact }}" rel="noreferrer">Contact</a>
{% endif %}</p>
<ul><li>See who you are: {% if one.profile %}your {{ one.profile }}{% else %}only an ID{% endif %}</li>
{% for right in one.permissions %}<li>{% firstof right.sentence "Use the permission "|add:right.name %}
{% if right.effect and right.optional %}({{ right.effect }}, optional)
{% elif right.effect %}({{ right.effect }}){% elif right.optional %}(optional){% endif %}</li>
{% endfor %}</ul>
<p>{% if one.is_waiting %}Allowed {{ one.granted_at|slice:":10" }}. Waiting for the app: expires if the app doesn’t fetch it.
{% else %}Connected {{ one.granted_at|slice:":10" }}.
{% if one.last_used_at %}Last used {{ one.last_used_at|slice:":10" }}{% else %}Not used yet{% endif %}.
Ends on {{ one.expires_at_the_latest|slice:":10" }}{% if one.expires_at < one.expires_at_the_latest %}, or on
{{ one.expires_at|slice:":10" }} without use{% endif %}.{% endif %}</p>
<form method="post" action="/settings">{% csrf_token %}
<input type="hidden" name="connection_id" value="{{ one.connection_id }}">
<button>Remove {{ one.name }}</button></form></section>{% empty %}<p>No app is connected.</p>{% endfor %}
{% if next %}<a href="/settings?after={{ next|urlencode:"" }}">More apps</a>{% endif %}"""

PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>{{ title }}</title>
<h1>{{ title }}</h1><p>{{ words }}</p>{{ more }}"""


def page(title, words="", more="", status=200):
    return HttpResponse(render(PAGE, title=title, words=words, more=more), status=status)


def render(template, request=None, **context):
    return engines["django"].from_string(template).render(context, request)


class Quiet(WSGIRequestHandler):
    def log_message(self, *_):
        """Lines hold whole addresses, and so sign-in requests."""


if __name__ == "__main__":
    call_command("migrate", verbosity=0)
    User = get_user_model()
    for name, email, password in (
        ("Ada Lovelace", "ada@example.com", "numbers and poems"),
        ("Grace Hopper", "grace@example.com", "a moth in relay 70"),
    ):
        first, last = name.split(" ")
        User.objects.create_user(email, email, password, first_name=first, last_name=last)
    server = ThreadedWSGIServer(("localhost", PORT), Quiet)
    server.set_app(get_wsgi_application())
    print(f"Photos: http://localhost:{PORT}", flush=True)
    server.serve_forever()
