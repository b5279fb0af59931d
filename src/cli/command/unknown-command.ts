/** Answers a command that does not exist with the one that is probably meant. */

/** Words that people type for one of our commands, group by group. */
const MEANT: readonly (readonly string[])[] = [
  ['client', 'clients', 'app', 'apps', 'application', 'applications', 'oauth-client'],
  ['user', 'users', 'account', 'accounts', 'person', 'people'],
  ['resource-server', 'resource-servers', 'resource', 'resources', 'api', 'apis'],
  ['identity-provider', 'identity-providers', 'provider', 'providers', 'idp'],
  ['grant', 'grants', 'consent', 'consents', 'token', 'tokens'],
  ['scope', 'scopes', 'permission', 'permissions'],
  ['audit', 'log', 'logs', 'event', 'events', 'trail'],
  ['database', 'db', 'migrate'],
  ['keys', 'key'],
  ['serve', 'start', 'run', 'server', 'up'],
  ['register', 'add', 'define', 'generate', 'create', 'new', 'make'],
  ['delete', 'revoke', 'remove', 'rm', 'del', 'destroy'],
  ['list', 'ls', 'all'],
  ['show', 'get', 'info', 'view', 'describe', 'inspect'],
  ['update', 'edit', 'set', 'change', 'modify', 'rename'],
  ['pause', 'disable', 'stop', 'suspend', 'block', 'lock', 'deactivate'],
  ['resume', 'enable', 'unpause', 'unblock', 'unlock', 'activate'],
  ['rotate-secret', 'rotate', 'new-secret', 'reset-secret'],
  ['set-password', 'password', 'passwd', 'reset-password'],
  ['end-sessions', 'sign-out', 'logout'],
];

/** One sentence about a command; `there` are the commands that its group has, and `similar` is one that is spelled alike. */
export function aboutUnknown(name: string, there: readonly string[], similar: string | null): string {
  const meant = MEANT.filter((words) => words.includes(name)).flat();
  const suggestion = there.find((command) => meant.includes(command)) ?? similar;
  return `unknown command '${name}'${suggestion === null ? '' : ` (Did you mean ${suggestion}?)`}`;
}
