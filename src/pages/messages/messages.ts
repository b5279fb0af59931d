import { ar } from './ar.ts';
import { en, type Messages } from './en.ts';

export type { Messages } from './en.ts';

/** The languages of the pages, as in `<html lang>`; the first is the fallback. */
export const languages = ['en', 'ar'] as const;

/** A language of the pages. */
export type Language = (typeof languages)[number];

const tables: Record<Language, Messages> = { en, ar };

/** Returns every text of the pages in one language. */
export function messagesFor(language: Language): Messages {
  return tables[language];
}

/** Returns the writing direction of a language, as in `<html dir>`. */
export function directionOf(language: Language): 'ltr' | 'rtl' {
  return language === 'ar' ? 'rtl' : 'ltr';
}

const longestHeader = 1_000;
const range = /^([a-z]{1,8}|\*)(?:-[a-z0-9]{1,8})*(?:\s*;\s*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?$/;

/**
 * Returns the language of the pages that an Accept-Language header prefers (RFC 9110 §12.5.4); English if it is
 * absent, unreadable or oversized.
 */
export function chooseLanguage(acceptLanguage: string | undefined): Language {
  if (acceptLanguage === undefined || acceptLanguage.length > longestHeader) return languages[0];
  const qualities = new Map<string, number>();
  for (const part of acceptLanguage.toLowerCase().split(',')) {
    const match = range.exec(part.trim());
    const [, tag, quality] = match ?? [];
    if (tag) qualities.set(tag, Math.max(qualities.get(tag) ?? 0, Number(quality ?? 1)));
  }
  // A Map keeps the header's order, which decides between equal qualities; "*" means every language that is not
  // named.
  const candidates = [...qualities.keys(), ...languages].filter((tag) =>
    languages.some((language) => language === tag),
  );
  const quality = (tag: string) => qualities.get(tag) ?? qualities.get('*') ?? 0;
  const best = candidates.reduce((one, other) => (quality(other) > quality(one) ? other : one));
  return languages.find((language) => language === best && quality(best) > 0) ?? languages[0];
}
