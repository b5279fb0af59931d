/** One connected app: a folded card with what the app may do, and its lines, each with a removal of its own. */
import { type AppProfile, appProfile } from '../consent/app-profile.ts';
import {
  haveEffects,
  isSensitive,
  type Permission,
  type PersonField,
  permissionList,
  signInList,
} from '../consent/permission-list.ts';
import { hiddenFields } from '../html/hidden-fields.ts';
import { type Html, html } from '../html/html.ts';
import { icons } from '../html/icons.ts';
import { isolated } from '../html/isolated-text.ts';
import { monogram } from '../layout/brand-mark.ts';
import type { PageContext } from '../layout/layout.ts';
import type { Messages } from '../messages/messages.ts';

/**
 * An app's access that is removed by itself: on one device, in one installation, what waits for the app to fetch it, or all
 * its other access. Times are milliseconds since 1970; `lastUsed` is null before the first use.
 */
export type ConnectedLine = {
  /** With the client, names the access that the line's form removes. */
  grantId: string;
  kind: 'app' | 'device' | 'installation';
  /** True if it was allowed, and the app has not fetched it yet. */
  isWaiting: boolean;
  /** The redirect hosts; none for a device. */
  hosts: readonly string[];
  permissions: readonly Permission[];
  /** True if it signs the user in. */
  signsIn: boolean;
  /** The profile fields that the app gets, as far as the account has them. */
  person: readonly PersonField[];
  since: number;
  lastUsed: number | null;
  /** End of the access if the app does not use it, and its end in any case. */
  endsUnused: number;
  ends: number;
};

/** An app with its lines. */
export type ConnectedApp = {
  clientId: string;
  appName: string;
  profile: AppProfile;
  /** Its lines on this page, of `lineCount`. */
  lines: readonly ConnectedLine[];
  lineCount: number;
  /** True if it signs the user in anywhere, with its permissions and the profile fields that it gets. */
  signsIn: boolean;
  permissions: readonly Permission[];
  person: readonly PersonField[];
  /** True if it fetched none of its access yet. */
  isWaiting: boolean;
  lastUsed: number | null;
};

/** Contents of each form of a card: the token, and the fields that lead back to this page. */
export type CardForm = { formToken: string; back: Readonly<Record<string, string>> };

/** The folded card of an app; an open one is the only app of its page. `body` is what opens. */
export function appCard(
  context: PageContext,
  app: ConnectedApp,
  form: CardForm,
  { now, isOpen, body }: { now: number; isOpen: boolean; body: Html },
): Html {
  return html`<li class="app-card">
<details${isOpen && html` open`}><summary>${monogram(app.appName, 'app')}<span class="app-head"><span role="heading" aria-level="2" class="app-name">${isolated(app.appName, 60)}</span>
<span class="summary">${summary(context.messages, app, now)}</span></span></summary>
${body}</details>
${removal(context, app, form)}
</li>
`;
}

/** In a card: who makes the app, what it may do, and its lines where there are several. */
export function cardBody(context: PageContext, app: ConnectedApp, form: CardForm): Html {
  const { messages } = context;
  const { connectedApps: texts } = messages;
  const hosts = [...new Set(app.lines.flatMap((line) => line.hosts))];
  const [only] = app.lines;
  const lines = app.lineCount === 1 && only ? dates(messages, only, momentOf(messages, only, app.lines)) : null;
  return html`<div class="app-body">
${appProfile(context, app.profile, hosts)}
${permissionsOf(messages, app, app.isWaiting ? texts.canOnceFetched : texts.can)}
${lines ?? html`<h3>${texts.lines}</h3>\n<ul class="lines">\n${app.lines.map((line) => lineOf(context, app, line, form))}</ul>`}
</div>
`;
}

/** In a card whose page has no room for more: the way to the app's own page. */
export function linkToApp({ messages, paths }: PageContext, { clientId, appName }: ConnectedApp): Html {
  const href = `${paths.apps}?app=${encodeURIComponent(clientId)}`;
  return html`<p class="app-body"><a href="${href}">${messages.connectedApps.showApp(appName)}</a></p>\n`;
}

/** Permissions that stand at once; the others are folded. */
const AT_ONCE = 10;

type Access = Pick<ConnectedLine, 'permissions' | 'person' | 'signsIn'>;

function permissionsOf(messages: Messages, { permissions: all, person, signsIn }: Access, heading?: string): Html {
  const title = heading !== undefined && html`<h3>${heading}</h3>\n`;
  if (signsIn)
    return html`${signInList(messages, person)}
${all.length > 0 && html`${title}${scopesOf(messages, all, null)}`}`;
  return html`${title}${scopesOf(messages, all, person)}`;
}

function scopesOf(messages: Messages, all: readonly Permission[], person: readonly PersonField[] | null): Html {
  const permissions = all.toSorted((one, other) => Number(isSensitive(other)) - Number(isSensitive(one)));
  const showsEffects = haveEffects(permissions);
  const more = permissions.slice(AT_ONCE);
  return html`${permissionList(messages, permissions.slice(0, AT_ONCE), person, showsEffects)}
${more.length > 0 && html`<details class="more"><summary>${messages.connectedApps.morePermissions(more.length)}</summary>${permissionList(messages, more, null, showsEffects)}</details>`}`;
}

function summary(messages: Messages, app: ConnectedApp, now: number): Html {
  const { permissions, signsIn, isWaiting, lastUsed, lineCount } = app;
  const { connectedApps: texts } = messages;
  const sensitive = permissions.filter(isSensitive).length;
  const used =
    lastUsed === null ? texts.neverUsed : html`${texts.lastUsed} ${moment(lastUsed, (at) => messages.ago(at, now))}`;
  return html`${sensitive > 0 && html`<strong class="effect sensitive">${texts.sensitive(sensitive)}</strong>`}${signsIn && html`<span>${messages.permissions.signsIn}</span>`}${(!signsIn || permissions.length > 0) && html`<span>${texts.permissions(permissions.length + (signsIn ? 0 : 1))}</span>`}${lineCount > 1 && html`<span>${texts.places(lineCount)}</span>`}<span>${isWaiting ? texts.waiting : used}</span>`;
}

/** One press removes the whole app; the button says how many lines that ends. An app's only line is removed as that line. */
function removal(context: PageContext, app: ConnectedApp, form: CardForm): Html {
  const { messages } = context;
  const [only] = app.lines;
  if (app.lineCount === 1 && only) return lineForm(context, app, only, momentOf(messages, only, app.lines), form);
  const label = messages.connectedApps.remove.all(app.appName, app.lineCount);
  return removalForm(context, { ...form.back, client_id: app.clientId }, form.formToken, label);
}

function lineOf(context: PageContext, app: ConnectedApp, line: ConnectedLine, form: CardForm): Html {
  const { messages } = context;
  const { connectedApps: texts } = messages;
  const began = momentOf(messages, line, app.lines);
  const access = permissionsOf(messages, line);
  const isAlike = String(access) === String(permissionsOf(messages, app));
  const kind = line.isWaiting
    ? html`${icons.clock}${texts.waiting}`
    : line.kind === 'device' && html`${icons.device}${texts.onDevice}`;
  return html`<li><div>
${kind && html`<p class="kinds"><span>${kind}</span>${line.isWaiting && line.kind === 'device' && html`<span>${texts.onDevice}</span>`}</p>`}
${dates(messages, line, began)}
${!isAlike && html`<details class="more"><summary>${texts.ofThisLine}</summary>${access}</details>`}</div>
${lineForm(context, app, line, began, form)}</li>
`;
}

function lineForm(
  context: PageContext,
  app: ConnectedApp,
  line: ConnectedLine,
  began: string,
  { formToken, back }: CardForm,
): Html {
  const { remove } = context.messages.connectedApps;
  const { appName, clientId } = app;
  const label = line.isWaiting
    ? remove.waiting(appName, began)
    : line.kind === 'app'
      ? remove.app(appName)
      : remove[line.kind](appName, began);
  const named = { client_id: clientId, [line.isWaiting ? 'waiting_id' : 'grant_id']: line.grantId };
  return removalForm(context, { ...named, ...back }, formToken, label);
}

function removalForm(
  { paths }: PageContext,
  fields: Readonly<Record<string, string>>,
  formToken: string,
  label: Html,
): Html {
  return html`<form method="post" action="${paths.removeApp}">${hiddenFields(formToken)}${Object.entries(fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}<button class="secondary danger">${label}</button></form>`;
}

/** Returns the start of a line in words, which tells an app's lines apart: to the second if minutes are equal. */
function momentOf({ minute, second, day }: Messages, line: ConnectedLine, lines: readonly ConnectedLine[]): string {
  if (line.kind === 'app' && !line.isWaiting) return day(line.since);
  const sameMinute = lines.filter(
    ({ kind, isWaiting, since }) =>
      kind === line.kind && isWaiting === line.isWaiting && minute(since) === minute(line.since),
  );
  return (sameMinute.length > 1 ? second : minute)(line.since);
}

function dates(messages: Messages, line: ConnectedLine, beganAt: string): Html {
  const { isWaiting, since, lastUsed } = line;
  const texts = messages.connectedApps;
  const began = html`${isWaiting ? texts.allowed : texts.since} ${moment(since, () => beganAt)}`;
  const used = lastUsed === null ? texts.neverUsed : html`${texts.lastUsed} ${moment(lastUsed, messages.day)}`;
  return html`<p class="dates"><span>${began}</span> <span>${isWaiting ? texts.notFetched : used}</span>${!isWaiting && html` <span>${end(messages, line)}</span>`}</p>`;
}

function end({ connectedApps: texts, day }: Messages, { ends, endsUnused }: ConnectedLine): Html {
  if (endsUnused >= ends) return html`${texts.ends(moment(ends, day))}`;
  return texts.endsOrUnused(moment(ends, day), moment(endsUnused, day));
}

function moment(time: number, inWords: (time: number) => string): Html {
  return html`<time datetime="${new Date(time).toISOString()}">${inWords(time)}</time>`;
}
