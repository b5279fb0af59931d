/** Makes names of folders and files durable: a name is stored in its parent folder, which must be synced. */
import { closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Makes a folder and the missing ones above it, for the owner only (mode 0700). Throws the system's error. */
export function makeFolder(path: string): void {
  const highest = mkdirSync(resolve(path), { recursive: true, mode: 0o700 });
  if (highest === undefined) return;
  for (let made = resolve(path); made.length >= highest.length; made = dirname(made)) syncFolder(dirname(made));
}

/** Waits until the names in a folder are on disk. Throws the system's error. */
export function syncFolder(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
