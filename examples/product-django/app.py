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
from valetkey_product import Valetkey  # noqa: E402

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
    return page("Photos", "There are none yet.") if request.user.is_authenticated else redirect("/sign-in")


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
    more = engines["django"].from_string(SIGN_IN).render({"next": next, "pending": pending, "problem": problem}, request)
    return page("Sign in to Photos", more=more)


def sign_out(request):
    logout(request)
    return redirect("/sign-in")


urlpatterns = [
    path("", home),
    path("sign-in", sign_in),
    path("sign-out", sign_out),
    path("oauth/sign-in", valetkey.django_view),  # Valetkey
]

SIGN_IN = """{% if pending %}<p>{{ pending.app_name }} asks for your photos.</p>{% endif %}<p role="alert">{{ problem }}</p>
<form method="post" action="/sign-in">{% csrf_token %}<input type="hidden" name="next" value="{{ next }}">
<label>Email <input name="email" type="email" autocomplete="username" required></label>
<label>Password <input name="password" type="password" autocomplete="current-password" required></label>
<button>Sign in</button></form>
{% if pending %}<form method="post" enctype="text/plain" action="{{ pending.refuse_url }}"><button>No, go back</button></form>{% endif %}"""

PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>{{ title }}</title>
<h1>{{ title }}</h1><p>{{ words }}</p>{{ more }}"""


def page(title, words="", more=""):
    return HttpResponse(engines["django"].from_string(PAGE).render({"title": title, "words": words, "more": more}))


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
