/** Reads the database's URL from a file, since it may hold a password. */
import { type Fault, InstallationError } from '../process/installation-error.ts';
import { readSecretFile } from '../process/secret-file.ts';

/**
 * Returns the value of `VALETKEY_DATABASE_URL` from the file that another variable names, if it is set. Adds faults
 * to `mistakes`.
 */
export function databaseUrlIn(
  given: Readonly<Record<string, string | undefined>>,
  mistakes: Fault[],
): { readonly VALETKEY_DATABASE_URL?: string } {
  const path = given['VALETKEY_DATABASE_URL_FILE']?.trim();
  if (!path) return {};
  if (given['VALETKEY_DATABASE_URL']) {
    mistakes.push({
      problem: 'VALETKEY_DATABASE_URL and VALETKEY_DATABASE_URL_FILE are both set',
      remedy: 'keep one of them',
    });
    return {};
  }
  try {
    const text = readSecretFile(path, 'the file of the database URL')?.trim();
    if (text) return { VALETKEY_DATABASE_URL: text };
    mistakes.push({ problem: `VALETKEY_DATABASE_URL_FILE: ${path} has no URL`, remedy: 'write one into it' });
  } catch (error) {
    if (!(error instanceof InstallationError)) throw error;
    for (const { problem, remedy } of error.faults)
      mistakes.push({ problem: `VALETKEY_DATABASE_URL_FILE: ${problem}`, remedy });
  }
  return {};
}
