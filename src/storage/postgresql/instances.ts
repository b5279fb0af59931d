/** Which instances of the service run: each names its sessions by its id, and the server knows which sessions there are. */
import type { Database } from './database.ts';

const PREFIX = 'valetkey ';
const RUNNING = `
  SELECT DISTINCT substr(application_name, ${PREFIX.length + 1}) FROM pg_stat_activity
  WHERE datname = current_database() AND application_name LIKE '${PREFIX}%'`;

/** The name of the sessions of an instance, by its id. */
export function sessionName(instanceId: string): string {
  return PREFIX + instanceId;
}

/** The ids of the instances that are connected. */
export async function runningInstances(database: Pick<Database, 'tuples'>): Promise<string[]> {
  return (await database.tuples(RUNNING, [])).map(([id]) => id as string);
}
