"""A product's sign-in endpoint for Valetkey, for Flask and Django. Copy this file into your product. Python 3.9 or later.

Flask:

    valetkey = Valetkey(url, "product", secret, "https://app.example/oauth/sign-in", current_user, login_url)
    app.add_url_rule("/oauth/sign-in", view_func=valetkey.flask_view, methods=["GET", "POST"])

Django, in urls.py:

    path("oauth/sign-in", valetkey.django_view)

`current_user(request)` returns the signed-in user, or None: a dict with `subject` (your permanent ID of the user, a string),
`signed_in_at` (seconds since 1970, when the user proved who they are; None if you do not keep it), and, if you like, `name`,
`email`, `email_verified`, `username`, `avatar_url` and `amr`. `login_url(next, wish)` returns the address of your sign-in page,
which leads to the path `next` afterwards; `wish` has `must_sign_in`, `app_name`, `hint` and `locales`.
"""

import base64
import hashlib
import hmac
import html
import json
import logging
import re
import time
import urllib.error
import urllib.parse
import urllib.request

LOG = logging.getLogger("valetkey")
LIFETIME = 3600  # of a request, in seconds
MAX_REQUESTS, MAX_CHARACTERS, MAX_COOKIE = 3, 7000, 3800  # in one browser, in all its cookies, in one cookie
MARGIN = 50  # seconds ahead of Valetkey's own check of max_age, which allows 60
STEP_AGAIN, STEP_SENT = "again", "sent"
BEGIN_AGAIN = "Go back to the app, and begin again there."
LOST = ("This sign-in is over", "It took too long, began in another browser, or is done. " + BEGIN_AGAIN)
FOREIGN = (
    "This request is not for here",
    "It was made for another product or installation, or is too old: go back to the app, begin again there, "
    "and ask its support if this page comes back.",
)
NOT_HERE = ("Not from here", BEGIN_AGAIN)
TOO_LONG = ("The app asks too much", "What the app sent is too long for this browser. Tell the app’s makers.")
NOT_SIGNED_IN = ("You are not signed in", "Your browser may refuse cookies of this site.")
CLOSED = ("Your account is closed to apps", "Ask the support why.")
NOT_NOW = ("That did not work", "Apps can’t be connected right now. Try again in a minute.")
HEADERS = {
    "Cache-Control": "no-store",
    # No form-action: browsers apply it to the redirects after a form.
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}
STYLE = (
    "body{font:1.1rem/1.5 system-ui,sans-serif;max-width:28rem;margin:4rem auto;padding:0 1rem;color-scheme:light dark}"
    "form{margin:.75rem 0}button{font:inherit;width:100%;padding:.6rem;border:1px solid;border-radius:.4rem;cursor:pointer}"
)


class ValetkeyError(Exception):
    """A call that failed. Its text holds no secret and no sign-in request."""

    def __init__(self, status, code, description=""):
        short = re.sub(r"[\w.~+/=-]{40,}", "…", f"{code} ({status}): {description}")[:300]
        super().__init__(f"Valetkey: {short}")
        self.status, self.code = status, code


class NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


class Valetkey:
    def __init__(self, url, id, secret, address, current_user, login_url):
        parts = urllib.parse.urlsplit(address or "")
        if not is_safe(parts) or parts.query or parts.fragment or not re.match(r"/(?!/)", parts.path):
            raise ValueError("address must be the endpoint’s public address without a query: https, or http on localhost")
        if not is_safe(urllib.parse.urlsplit(url or "")) or not id or not secret:
            raise ValueError("url (https, or http on localhost), id and secret are required: is each environment variable set?")
        self.url, self.path, self.current_user, self.login_url = url.rstrip("/"), parts.path, current_user, login_url
        self.origin, self.is_secure = f"{parts.scheme}://{parts.netloc}", parts.scheme == "https"
        pair = ":".join(urllib.parse.quote_plus(part) for part in (id, secret))
        self.basic = "Basic " + base64.b64encode(pair.encode()).decode()
        self.key = hmac.digest(secret.encode(), f"valetkey product {id} {self.url}".encode(), "sha256")
        self.opener = urllib.request.build_opener(NoRedirects)

    # The endpoint in two frameworks. Each answer is (status, headers, cookies, body); a cookie is (name, value, seconds).

    def flask_view(self):
        from flask import make_response, request

        status, headers, cookies, body = self.answer(
            request.method, request.args, request.cookies, request.headers, request
        )
        response = make_response(body, status)
        response.headers.update(headers)
        for name, value, seconds in cookies:
            response.set_cookie(name, value, max_age=seconds, httponly=True, samesite="Lax", secure=self.is_secure)
        return response

    def django_view(self, request):
        from django.http import HttpResponse

        status, headers, cookies, body = self.answer(
            request.method, request.GET, request.COOKIES, request.headers, request
        )
        response = HttpResponse(body, status=status, headers=headers)
        for name, value, seconds in cookies:
            response.set_cookie(name, value, max_age=seconds, httponly=True, samesite="Lax", secure=self.is_secure)
        return response

    django_view.csrf_exempt = True  # The endpoint checks its posts itself.
    django_view.login_required = False  # For LoginRequiredMiddleware: it finds the users itself.

    def pending(self, query, cookies):
        """The request that waits for a sign-in, for your sign-in page: {"app_name", "refuse_url"}, or None.

        A form with method="post" enctype="text/plain" refuses at `refuse_url`.
        """
        named = re.search(r"request=([\w-]{16})", query.get("next", ""))
        kept = [self.find(cookies, named[1])] if named else self.find_all(cookies)
        if not kept or kept[0] is None:
            return None
        return {"app_name": kept[0]["app_name"], "refuse_url": self.post_url(kept[0], "no")}

    # The flow.

    def answer(self, method, query, cookies, headers, request):
        if method not in ("GET", "POST"):
            return page(405, NOT_HERE)
        if method == "POST" and not self.is_from_own_page(headers):
            return self.fail(403, "foreign_form", NOT_HERE)
        if method == "GET" and "sign_in_request" in query:
            return self.receive(query, cookies)
        kept = self.find(cookies, query.get("request", ""))
        if kept is None:
            return self.fail(400, "no_request", LOST)
        answer, step = self.answer_of(kept, query) if method == "POST" else None, query.get("step", "")
        if answer == "no":
            return self.state(kept, {"error": "access_denied"})
        user = self.current_user(request)
        if user is None:
            return self.without_user(kept, step, headers)
        if answer == "other":
            return self.login(kept, True, STEP_SENT)
        return self.with_user(kept, user, step, answer)

    def receive(self, query, cookies):
        text = query.get("sign_in_request", "")
        max_age, hint, locales = (query.get(name, "") for name in ("max_age", "login_hint", "ui_locales"))
        kept = {
            "digest": digest_of(text), "text": text, "since": time.time(),
            "app_name": (query.get("client_name") or "An app")[:100],
            "prompts": [one for one in query.get("prompt", "").split(" ") if one in ("login", "select_account")],
            "max_age": int(max_age) if re.fullmatch(r"[0-9]{1,10}", max_age) else None,
            "hint": hint if 0 < len(hint) <= 254 else None, "locales": locales if 0 < len(locales) <= 100 else None,
        }
        if len(self.format(kept)) > MAX_CHARACTERS:
            kept |= {"hint": None, "locales": None}  # They help, and nothing depends on them.
        value = self.format(kept)
        if not re.fullmatch(r"[\w-]+", text, re.ASCII) or len(value) > MAX_CHARACTERS:
            return self.fail(400, "request_too_long", TOO_LONG)
        others = [one for one in self.find_all(cookies) if one["digest"] != kept["digest"]]
        forgotten, room = digests_in(cookies), MAX_CHARACTERS - len(value)
        for other in others[: MAX_REQUESTS - 1]:
            room -= len(self.format(other))
            if room >= 0:
                forgotten.discard(other["digest"])
        forgotten.discard(kept["digest"])
        set_cookies = [cookie for digest in forgotten for cookie in forget(digest)]
        rest, name = value[MAX_COOKIE:], name_of(kept["digest"])
        # The second is emptied where one is enough, so that no half of an earlier visit stays.
        set_cookies += [(name, value[:MAX_COOKIE], LIFETIME), (name + ".2", rest, LIFETIME if rest else 0)]
        return redirect(self.address_of(kept), set_cookies)

    def without_user(self, kept, step, headers):
        if step == STEP_SENT or self.absent_at(kept, step) is not None:
            return self.fail(400, "no_user_after_login", NOT_SIGNED_IN, link=(self.address_of(kept), "Sign in"))
        is_from_elsewhere = headers.get("Sec-Fetch-Site") == "cross-site"
        if is_from_elsewhere and step != STEP_AGAIN:
            # A browser keeps cookies back that are SameSite=Strict if it comes from another site: a page of ours brings them.
            return page(200, ("One moment", ""), go_to=self.address_of(kept, STEP_AGAIN))
        # That nobody was signed in now bounds the time of the next sign-in from below, unless cookies were kept back.
        now = f"{time.time():.3f}"
        absent = f"{now}~{self.mac('absent', kept['digest'], now)}"
        return self.login(kept, must_sign_in(kept), STEP_SENT if is_from_elsewhere else absent)

    def with_user(self, kept, user, step, answer):
        at = user.get("signed_in_at")
        at = self.absent_at(kept, step) if at is None else float(at)
        is_new = at is not None and is_since(at, kept["since"])
        was_sent = step == STEP_SENT
        if not is_fresh(kept, at) or (was_sent and at is not None and not is_new):
            if not was_sent and at is not None:
                return self.login(kept, True, STEP_SENT)
            words = (
                f"{kept['app_name']} wants to be sure that it is you, but you are still signed in as {name_of_user(user)}. "
                "Sign out here, then go on and sign in again."
            )
            return page(200, ("Sign out first", words), link=(self.address_of(kept), "Go on"))
        must_choose = "select_account" in kept["prompts"] and not is_new
        # Somebody else may have signed in since the page of the button was shown.
        if must_choose if answer is None else answer != "as " + user["subject"]:
            buttons = [("as " + user["subject"], f"Go on as {name_of_user(user)}"), ("other", "Another account"), ("no", "No, go back")]
            asks = ("Choose an account", f"{kept['app_name']} asks for access to your account.")
            return page(200, asks, [(self.post_url(kept, one), words) for one, words in buttons])
        names = ("subject", "name", "email", "email_verified", "username", "avatar_url", "amr")
        who = {name: user[name] for name in names if name in user}
        return self.state(kept, who | ({} if at is None else {"auth_time": int(at)}))

    def state(self, kept, statement):
        try:
            said = self.call("POST", "/sign-in", {"sign_in_request": kept["text"], **statement}, within=8)
            if not said["redirect_to"].startswith(self.url + "/"):
                raise ValetkeyError(200, "odd_answer", "redirect_to is no address of Valetkey: compare url with VALETKEY_APP_URL")
            return redirect(said["redirect_to"], forget(kept["digest"]))
        except ValetkeyError as error:
            lost = FOREIGN if "not for this identity provider" in str(error) else LOST
            over = {"invalid_grant": lost, "access_denied": CLOSED}.get(error.code)
            if over:
                return self.fail(400, str(error), over, cookies=forget(kept["digest"]))
            status = 503 if error.status == 0 or error.status >= 429 else 500
            return self.fail(status, str(error), NOT_NOW, link=(self.address_of(kept), "Try again"))

    def login(self, kept, must_sign_in, step):
        wish = {"must_sign_in": must_sign_in, "app_name": kept["app_name"], "hint": kept["hint"], "locales": kept["locales"]}
        return redirect(self.login_url(self.address_of(kept, step), wish))

    def fail(self, status, problem, texts, **more):
        LOG.warning("%s", problem)
        return page(status, texts, **more)

    # Addresses: paths of this server, in which nothing comes from outside.

    def address_of(self, kept, step=None):
        return f"{self.path}?{urllib.parse.urlencode({'request': kept['digest'], **({'step': step} if step else {})})}"

    def post_url(self, kept, answer):
        mac = self.mac("answer", kept["digest"], answer)
        return f"{self.address_of(kept)}&{urllib.parse.urlencode({'answer': answer, 'mac': mac})}"

    def answer_of(self, kept, query):
        answer = query.get("answer", "")
        return answer if self.is_mac(query.get("mac", ""), "answer", kept["digest"], answer) else None

    def absent_at(self, kept, step):
        at, _, mac = step.partition("~")
        return float(at) if self.is_mac(mac, "absent", kept["digest"], at) else None

    def is_from_own_page(self, headers):
        """Browsers send at least one of the two headers with a post, and no page can forge them."""
        origin, site = headers.get("Origin", "null"), headers.get("Sec-Fetch-Site")
        if site not in (None, "same-origin"):
            return False
        return origin == self.origin or (origin == "null" and site is not None)

    # Kept requests: each in a cookie, with a MAC.

    def format(self, kept):
        others = {name: value for name, value in kept.items() if name not in ("digest", "text", "since")}
        rest = base64.urlsafe_b64encode(json.dumps(others).encode()).decode().rstrip("=")
        parts = [str(int(kept["since"] * 1000)), kept["text"], rest]
        return ".".join([*parts, self.mac("request", *parts)])

    def find(self, cookies, digest):
        value = cookies.get(name_of(digest), "") + cookies.get(name_of(digest) + ".2", "")
        since, text, rest, mac = (value.split(".") + [""] * 4)[:4]
        if not self.is_mac(mac, "request", since, text, rest) or digest_of(text) != digest:
            return None
        others = json.loads(base64.urlsafe_b64decode(rest + "=" * (-len(rest) % 4)))
        return {**others, "digest": digest, "text": text, "since": int(since) / 1000}

    def find_all(self, cookies):
        found = [self.find(cookies, digest) for digest in digests_in(cookies)]
        return sorted((one for one in found if one), key=lambda one: -one["since"])

    def mac(self, *texts):
        return base64.urlsafe_b64encode(hmac.digest(self.key, json.dumps(texts).encode(), "sha256")).decode().rstrip("=")

    def is_mac(self, mac, *texts):
        return hmac.compare_digest(mac.encode(), self.mac(*texts).encode())

    # Calls about your users. A user whom Valetkey does not know has no connections, and nothing to end.

    def connections(self, subject, **options):
        """Returns a page of the user's connected apps: {"connections", "next"}. Options: `language`, `limit` and `after`."""
        query = urllib.parse.urlencode({"subject": subject, **{name: one for name, one in options.items() if one is not None}})
        return self.call_unless_unknown("GET", f"/users/connections?{query}") or {"connections": [], "next": None}

    def revoke(self, subject, **which):
        """Ends the connection with a `connection_id`, or all of the app with a `client_id`. False: an unknown user."""
        return self.call_unless_unknown("POST", "/users/connections/revoke", {"subject": subject, **which}) is not None

    def end_sessions(self, subject):
        """Signs the user out of Valetkey; apps stay connected. False: an unknown user."""
        return self.call_unless_unknown("POST", "/users/end-sessions", {"subject": subject}) is not None

    def call_unless_unknown(self, method, path, body=None):
        """Makes a call, and returns its JSON; None if Valetkey does not know the user."""
        try:
            return self.call(method, path, body)
        except ValetkeyError as error:
            if error.status == 404:
                return None
            raise

    # Any other call, such as valetkey.call("POST", "/users/disable", {"subject": "p-17"}).

    def call(self, method, path, body=None, within=30):
        """Makes a call, and returns its JSON, {} if there is none. Repeats it twice if that can help, after Retry-After."""
        until = time.monotonic() + within
        for tries in (1, 2, 3):
            error, wait = None, 0.25 * tries
            data = None if body is None else json.dumps(body).encode()
            headers = {"Authorization": self.basic, **({} if data is None else {"Content-Type": "application/json"})}
            asked = urllib.request.Request(f"{self.url}/api/auth/oauth{path}", data, headers, method=method)
            try:
                with self.opener.open(asked, timeout=max(0.1, min(10, until - time.monotonic()))) as response:
                    text = response.read()
                    return json.loads(text) if text else {}
            except urllib.error.HTTPError as refused:
                try:
                    said = json.loads(refused.read())
                except ValueError:
                    said = {"error": "odd_answer"}
                error = ValetkeyError(refused.code, said.get("error"), said.get("error_description", ""))
                if refused.code not in (429, 502, 503, 504):
                    raise error from None
                after = refused.headers.get("Retry-After", "")
                wait = int(after) if after.isdigit() else wait
            except (OSError, ValueError) as failed:
                error = ValetkeyError(0, "unreachable", type(failed).__name__)
            if tries == 3 or time.monotonic() + wait >= until:
                raise error from None
            time.sleep(wait)


def is_safe(parts):
    loopback = parts.hostname in ("localhost", "::1") or (parts.hostname or "").startswith("127.")
    return parts.scheme == "https" and bool(parts.netloc) or parts.scheme == "http" and loopback


def must_sign_in(kept):
    return "login" in kept["prompts"] or kept["max_age"] is not None


def is_fresh(kept, at):
    if not must_sign_in(kept):
        return True
    if at is None:
        return False
    max_age = float("inf") if kept["max_age"] is None else kept["max_age"]
    needed = kept["since"] if "login" in kept["prompts"] else kept["since"] - max_age
    return is_since(at, needed) and at >= time.time() - max_age - MARGIN


def is_since(at, since):
    """Compares in seconds where the product keeps whole seconds."""
    return at >= (since // 1 if at % 1 == 0 else since)


def name_of_user(user):
    return user.get("name") or user.get("email") or user.get("username") or user["subject"]


def digest_of(text):
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode()[:16]


def name_of(digest):
    return f"valetkey_request_{digest}"


def digests_in(cookies):
    return {found[1] for name in cookies if (found := re.fullmatch(r"valetkey_request_([\w-]{16})(\.2)?", name))}


def forget(digest):
    return [(name_of(digest), "", 0), (name_of(digest) + ".2", "", 0)]


def redirect(location, cookies=()):
    return 303, {**HEADERS, "Location": location}, cookies, ""


def page(status, texts, buttons=(), link=None, go_to=None, cookies=()):
    title, words = map(html.escape, texts)
    # text/plain: no framework reads such a body as a form, and the whole answer is in the address.
    forms = "".join(
        f'<form method="post" enctype="text/plain" action="{html.escape(to)}"><button>{html.escape(label)}</button></form>'
        for to, label in buttons
    )
    refresh = "" if go_to is None else f'<meta http-equiv="refresh" content="0;url={html.escape(go_to)}">'
    more = "" if link is None else f'<p><a href="{html.escape(link[0])}">{html.escape(link[1])}</a></p>'
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width">{refresh}<title>{title}</title><style>{STYLE}</style>'
    body = f'<!doctype html><html lang="en"><head>{head}</head><body><main><h1>{title}</h1><p>{words}</p>{forms}{more}</main></body></html>'
    return status, {**HEADERS, "Content-Type": "text/html; charset=utf-8"}, cookies, body
