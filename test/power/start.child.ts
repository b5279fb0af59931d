/** Opens a database as a service does, and is killed as soon as it is ready. */
import { openAsService } from '../support/storage.ts';

await openAsService(process.argv[2] as string);
process.kill(process.pid, 'SIGKILL');
