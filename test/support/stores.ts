/** Tests that are made for both stores, and run on one of them at a time. */

/** The variable that names the store of a run. The first group tests SQLite; the second has the same files on PostgreSQL. */
export const STORE = 'TEST_STORE';

/** Returns those of a test's stores that this run is for: all of them, unless the variable names one. */
export function storesOfRun<T>(stores: Readonly<Record<string, T>>): [name: string, store: T][] {
  const named = process.env[STORE];
  return Object.entries(stores).filter(([name]) => named === undefined || name === named);
}
