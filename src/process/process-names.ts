/** Names of this process and of whoever runs it, for the audit trail. */
import { hostname, userInfo } from 'node:os';

/** The name by which an operator knows this instance. */
export function instanceName(): string {
  return `${hostname()} (process ${process.pid})`;
}

/** The system user who runs the command; in a container it may be a number without a name. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.()}`;
  }
}
