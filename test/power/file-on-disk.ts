/**
 * One file as a disk may hold it when the power fails. Everything that a completed sync covers is there. Of what was
 * changed since, each sector of 512 bytes holds what it held at some moment since that sync, whatever its neighbors
 * hold: a write may be lost, late, or torn, and later ones may have come through. The size is that of some moment since,
 * or a sector's end between two of them; sectors that the file gained and nothing was written to hold zeros, or anything.
 * A sector is written as a whole, so that what is in it beside the changed bytes survives.
 */
import { type Lots, pick } from '../instances/effort.ts';

/** Bytes that were written at an offset; or, without bytes, a new size. */
export type Change = { readonly at: number; readonly data: Buffer | null };

const SECTOR = 512;

/** How many of the changes (in their order) a sector holds, given the numbers of those that touched it. */
type Fate = (touchedBy: readonly number[]) => number;

/** How a power cut may deal with the changes since the last sync. */
const FATES: readonly ((changes: number, draw: Lots) => Fate)[] = [
  () => () => 0,
  (changes) => () => changes,
  // What a moment left; the change after it is torn.
  (changes, draw) => {
    const moment = draw(changes + 1);
    return (touchedBy) => moment + (touchedBy.includes(moment) ? draw(2) : 0);
  },
  // Each change came through as a whole, or not.
  (changes, draw) => {
    const isKept = Array.from({ length: changes }, () => draw(2) === 1);
    return (touchedBy) => (touchedBy.findLast((change) => isKept[change]) ?? -1) + 1;
  },
  // Each sector has a fate of its own.
  (_changes, draw) => (touchedBy) => (touchedBy[draw(touchedBy.length + 1)] ?? -1) + 1,
];

/** A file that changes, is synced, and may be cut off. */
export class FileOnDisk {
  /** What syncs covered; longer than `#size`, so as not to grow each time. */
  #synced: Buffer;
  #size: number;
  #changes: Change[] = [];
  /** How many changes are in `#synced` already. */
  #settled = 0;

  /** A file with contents that are safe. */
  constructor(contents: Buffer = Buffer.alloc(0)) {
    this.#synced = Buffer.from(contents);
    this.#size = contents.length;
  }

  change(change: Change): void {
    this.#changes.push(change);
  }

  /** How many changes there were: what a sync that begins now will cover. */
  get changed(): number {
    return this.#settled + this.#changes.length;
  }

  /** A sync ended that covers so many changes. */
  settle(changed: number): void {
    const covered = this.#changes.splice(0, Math.max(0, changed - this.#settled));
    this.#settled += covered.length;
    for (const change of covered) {
      this.#grow(sizeAfter(this.#size, change));
      apply(this.#synced, change, 0, Number.POSITIVE_INFINITY);
      this.#size = sizeAfter(this.#size, change);
    }
  }

  /** What a disk may hold if the power fails now. */
  cut(draw: Lots): Buffer {
    const sizes = this.#sizes();
    const held = Buffer.alloc(Math.max(...sizes), draw(2) ? 0 : Buffer.from([draw(256), draw(256), draw(256)]));
    this.#synced.copy(held, 0, 0, this.#size);
    const fate = pick(draw, FATES)(this.#changes.length, draw);
    for (const [sector, touchedBy] of this.#touched(sizes)) {
      const kept = fate(touchedBy);
      for (const number of touchedBy)
        if (number < kept) apply(held, this.#changes[number] as Change, sector * SECTOR, (sector + 1) * SECTOR);
    }
    const moment = fate([...this.#changes.keys()]);
    return held.subarray(0, between(sizes[moment] as number, sizes[moment + 1] ?? (sizes[moment] as number), draw));
  }

  /** The size before the first change, and after each. */
  #sizes(): number[] {
    const sizes = [this.#size];
    for (const change of this.#changes) sizes.push(sizeAfter(sizes.at(-1) as number, change));
    return sizes;
  }

  /** The sectors that changed, each with the numbers of the changes. */
  #touched(sizes: readonly number[]): Map<number, number[]> {
    const touched = new Map<number, number[]>();
    for (const [number, { at, data }] of this.#changes.entries()) {
      const end = data ? at + data.length : (sizes[number] as number);
      for (let sector = Math.floor(at / SECTOR); sector * SECTOR < end; sector += 1) {
        const touchedBy = touched.get(sector);
        if (touchedBy) touchedBy.push(number);
        else touched.set(sector, [number]);
      }
    }
    return touched;
  }

  #grow(size: number): void {
    if (size <= this.#synced.length) return;
    const larger = Buffer.alloc(2 * size);
    this.#synced.copy(larger, 0, 0, this.#size);
    this.#synced = larger;
  }
}

function sizeAfter(size: number, { at, data }: Change): number {
  return data ? Math.max(size, at + data.length) : at;
}

/** Applies the part of a change that lies between two offsets. What a truncation cut off is zeros if the file grows again. */
function apply(contents: Buffer, { at, data }: Change, from: number, to: number): void {
  const start = Math.max(at, from);
  if (!data) contents.fill(0, Math.min(start, contents.length), Math.min(to, contents.length));
  else if (start < to) data.copy(contents, start, start - at, Math.min(data.length, to - at));
}

/** A size, or sometimes a sector's end on the way to the next one: a file may grow, or be cut short, in steps. */
function between(size: number, next: number, draw: Lots): number {
  const [from, to] = [Math.floor(size / SECTOR), Math.floor(next / SECTOR)];
  const steps = from !== to && draw(4) === 0 ? draw(Math.abs(to - from) + 1) : 0;
  if (steps === 0) return size;
  return to > from ? (from + steps) * SECTOR : Math.max(next, (from - steps) * SECTOR);
}
