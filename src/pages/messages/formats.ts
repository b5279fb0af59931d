const units = [
  { unit: 'year', seconds: 31_536_000 },
  { unit: 'day', seconds: 86_400 },
  { unit: 'hour', seconds: 3_600 },
  { unit: 'minute', seconds: 60 },
  { unit: 'second', seconds: 1 },
] as const;

const DAY_MS = 86_400_000;

const DAY = { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' } as const;

/**
 * Formats days, numbers and durations in one language. Each formatter is created at its first use: the tables of
 * languages take 7 MB of memory, which a service without page views never needs.
 */
export class Formats {
  readonly #locale: string;
  #day: Intl.DateTimeFormat | undefined;
  #minute: Intl.DateTimeFormat | undefined;
  #plural: Intl.PluralRules | undefined;
  #number: Intl.NumberFormat | undefined;
  readonly #durations = new Map<string, Intl.NumberFormat>();

  /** @param locale a BCP 47 tag */
  constructor(locale: string) {
    this.#locale = locale;
  }

  /** Formats the day of a time (ms) in UTC: "3 Nov 2026". */
  day(time: number): string {
    this.#day ??= new Intl.DateTimeFormat(this.#locale, DAY);
    return this.#day.format(time);
  }

  /** Formats a time (ms) in UTC to the minute: "3 Nov 2026, 14:05". */
  minute(time: number): string {
    this.#minute ??= new Intl.DateTimeFormat(this.#locale, { ...DAY, hour: '2-digit', minute: '2-digit' });
    return this.#minute.format(time);
  }

  /** Formats a time (ms) in UTC to the second: "3 Nov 2026, 14:05:09". */
  second(time: number): string {
    const parts = { ...DAY, hour: '2-digit', minute: '2-digit', second: '2-digit' } as const;
    return new Intl.DateTimeFormat(this.#locale, parts).format(time);
  }

  /** Formats the day of a past time (ms) in UTC as people say it: "today", "yesterday", "12 days ago"; from a month on, the day. */
  ago(time: number, now: number): string {
    const days = Math.floor(now / DAY_MS) - Math.floor(time / DAY_MS);
    if (days > 30) return this.day(time);
    return new Intl.RelativeTimeFormat(this.#locale, { numeric: 'auto' }).format(-Math.max(0, days), 'day');
  }

  /** Returns the language's plural form for a count: "one" is singular. */
  plural(count: number): Intl.LDMLPluralRule {
    this.#plural ??= new Intl.PluralRules(this.#locale);
    return this.#plural.select(count);
  }

  /** Joins words: "name, username and email address". */
  list(words: readonly string[]): string {
    return new Intl.ListFormat(this.#locale, { type: 'conjunction' }).format(words);
  }

  /** Formats a count with the language's separators: "1,000". */
  number(count: number): string {
    this.#number ??= new Intl.NumberFormat(this.#locale);
    return this.#number.format(count);
  }

  /** Formats a duration in words, in the largest unit that divides it: 1800 is "30 minutes". */
  duration(seconds: number): string {
    const largest = units.find((each) => seconds >= each.seconds && seconds % each.seconds === 0) ?? {
      unit: 'second',
      seconds: 1,
    };
    return this.#durationIn(largest.unit).format(seconds / largest.seconds);
  }

  #durationIn(unit: string): Intl.NumberFormat {
    const known = this.#durations.get(unit);
    if (known) return known;
    const format = new Intl.NumberFormat(this.#locale, { style: 'unit', unit, unitDisplay: 'long' });
    this.#durations.set(unit, format);
    return format;
  }
}
