/** Opens a database as a user whom file modes bind, and prints why that was refused. */
import { openAsService } from '../support/storage.ts';

const NOBODY = 65_534;
const [, , path = ''] = process.argv;
// Everything is imported by now; from here on not even the project's own files need to be readable.
if (process.getuid?.() === 0) {
  process.setgid?.(NOBODY);
  process.setuid?.(NOBODY);
}
try {
  const opened = await openAsService(path);
  await opened.close();
  console.log('opened');
} catch (error) {
  console.log(`${(error as Error).name}: ${(error as Error).message}`);
}
