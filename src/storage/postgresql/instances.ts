/** The running instances of the service: each names its sessions by its id, and the server lists all sessions. */
import type { Database } from './statements/database.ts';

const PREFIX = 'valetkey ';
const RUNNING = `
  SELECT DISTINCT substr(application_name, ${PREFIX.length + 1}) FROM pg_stat_activity
  WHERE datname = current_database() AND application_name LIKE '${PREFIX}%'`;

/** Returns the name of an instance's sessions, by its id. */
export function sessionName(instanceId: string): string {
  return PREFIX + instanceId;
}

/** Returns the ids of the connected instances. */
export async function runningInstances(database: Pick<Database, 'tuples'>): Promise<string[]> {
  return (await database.tuples(RUNNING, [])).map(([id]) => id as string);
}
