/**
 * A folder as a disk may hold it when the power fails, from a recording of what reached it. The model is the least that
 * POSIX promises, so that whatever survives it survives ext4, XFS and others, which keep more:
 *
 * - A sync covers what was done to its file before it began, once it has ended (`file-on-disk.ts` is about contents).
 * - A name is a matter of its folder: that it was added or taken away is safe when the folder was synced since, and only
 *   then. Before, each name may be as it was at any moment since, whatever the others are. (ext4 and XFS also keep the
 *   name of a new file that was itself synced, and all names in order.)
 * - The folder itself is there, and a sector that was written once does not spoil later.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Lots } from '../instances/effort.ts';
import { FileOnDisk } from './file-on-disk.ts';
import type { TraceRecord } from './trace.ts';

/** A name and what it stands for from then on; null where it was taken away. */
type Naming = { readonly name: string; readonly file: FileOnDisk | null };

/** A sync that has begun: what it is of, and how much it covers if it ends. */
type Sync = { readonly file: FileOnDisk | null; readonly covers: number };

/** What a folder holds: contents by name. */
export type Contents = ReadonlyMap<string, Buffer>;

/** Makes a folder that holds this, and nothing else. */
export function layOut(folder: string, contents: Contents): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { mode: 0o700 });
  for (const [name, bytes] of contents) writeFileSync(join(folder, name), bytes, { mode: 0o600 });
}

/** A disk that a recording is played to. */
export class Disk {
  /** From this position on it answers syncs without doing them: an honest disk never does. */
  readonly #honestUntil: number;
  readonly #files = new Map<bigint, FileOnDisk>();
  readonly #syncs = new Map<string, Sync>();
  /** Names as they are now, and as they surely survive. */
  readonly #names: Map<string, FileOnDisk>;
  readonly #safe: Map<string, FileOnDisk>;
  #namings: Naming[] = [];
  #settledNamings = 0;

  /** `initial` is what the folder held, safely, before the recording. */
  constructor(initial: Contents = new Map(), honestUntil = Number.POSITIVE_INFINITY) {
    this.#honestUntil = honestUntil;
    this.#safe = new Map([...initial].map(([name, contents]) => [name, new FileOnDisk(contents)]));
    this.#names = new Map(this.#safe);
  }

  /** Plays the next record. */
  play(record: TraceRecord): void {
    const { kind, file, value, name, data } = record;
    const known = this.#files.get(file);
    if (kind === 'open' && name !== '') this.#open(record);
    else if (kind === 'link') this.#name(name, known ?? null);
    else if (kind === 'unlink') this.#name(name, null);
    else if (kind === 'write') known?.change({ at: value, data });
    else if (kind === 'truncate') known?.change({ at: value, data: null });
    else if (kind === 'syncBegins') this.#beginSync(record);
    else if (kind === 'synced') this.#endSync(record);
  }

  /** What the folder may hold if the power fails now. */
  cut(draw: Lots): Contents {
    const taste = draw(3);
    const names = new Map(this.#safe);
    for (const namings of Map.groupBy(this.#namings, ({ name }) => name).values()) {
      const kept = taste === 0 ? 0 : taste === 1 ? namings.length : draw(namings.length + 1);
      if (kept > 0) set(names, namings[kept - 1] as Naming);
    }
    const held = new Map([...new Set(names.values())].map((file) => [file, file.cut(draw)]));
    return new Map([...names].map(([name, file]) => [name, held.get(file) as Buffer]));
  }

  #open({ file, value, name }: TraceRecord): void {
    const isNew = value === 1;
    if (!isNew && this.#files.has(file)) return;
    // The inode of a file that is gone may be given to a new one.
    const opened = isNew ? new FileOnDisk() : this.#names.get(name);
    if (!opened) throw new Error(`${name} was there before the recording`);
    this.#files.set(file, opened);
    if (isNew) this.#name(name, opened);
  }

  #name(name: string, file: FileOnDisk | null): void {
    this.#namings.push({ name, file });
    set(this.#names, { name, file });
  }

  #beginSync({ process, file, value }: TraceRecord): void {
    const known = this.#files.get(file) ?? null;
    const covers = known ? known.changed : this.#settledNamings + this.#namings.length;
    this.#syncs.set(`${process} ${value}`, { file: known, covers });
  }

  #endSync({ process, value, position }: TraceRecord): void {
    const sync = this.#syncs.get(`${process} ${value}`);
    this.#syncs.delete(`${process} ${value}`);
    if (!sync || position > this.#honestUntil) return;
    if (sync.file) sync.file.settle(sync.covers);
    else this.#settleNames(sync.covers);
  }

  #settleNames(covers: number): void {
    const covered = this.#namings.splice(0, Math.max(0, covers - this.#settledNamings));
    this.#settledNamings += covered.length;
    for (const naming of covered) set(this.#safe, naming);
  }
}

function set(names: Map<string, FileOnDisk>, { name, file }: Naming): void {
  if (file) names.set(name, file);
  else names.delete(name);
}
