/** Folders whose names, and whose files' names, outlive a power cut: a name is a matter of the folder that it is in. */
import { closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Makes a folder, and those above it that are missing, for the owner's eyes only (mode 0700). Throws what the system says. */
export function makeFolder(path: string): void {
  const highest = mkdirSync(resolve(path), { recursive: true, mode: 0o700 });
  if (highest === undefined) return;
  for (let made = resolve(path); made.length >= highest.length; made = dirname(made)) syncFolder(dirname(made));
}

/** Waits until the names in a folder are on disk. Throws what the system says. */
export function syncFolder(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
