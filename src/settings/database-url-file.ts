/** Reads the database's URL from a file, since it may hold a password. */
import { InstallationError } from '../process/installation-error.ts';
import { readSecretFile } from '../process/secret-file.ts';

/**
 * Returns the value of `VALETKEY_DATABASE_URL` from the file that another variable names, if it is set. Adds problems
 * to `mistakes`.
 */
export function databaseUrlIn(
  given: Readonly<Record<string, string | undefined>>,
  mistakes: string[],
): { readonly VALETKEY_DATABASE_URL?: string } {
  const path = given['VALETKEY_DATABASE_URL_FILE']?.trim();
  if (!path) return {};
  if (given['VALETKEY_DATABASE_URL']) {
    mistakes.push('VALETKEY_DATABASE_URL and VALETKEY_DATABASE_URL_FILE are both set: keep one of them');
    return {};
  }
  try {
    const text = readSecretFile(path, 'the file of the database URL')?.trim();
    if (text) return { VALETKEY_DATABASE_URL: text };
    mistakes.push(`VALETKEY_DATABASE_URL_FILE: ${path} has no URL: write one into it`);
  } catch (error) {
    if (!(error instanceof InstallationError)) throw error;
    mistakes.push(`VALETKEY_DATABASE_URL_FILE: ${error.message}`);
  }
  return {};
}
