const units = [
  { unit: 'day', seconds: 86_400 },
  { unit: 'hour', seconds: 3_600 },
  { unit: 'minute', seconds: 60 },
  { unit: 'second', seconds: 1 },
] as const;

/** A length of time in words, in the largest unit that holds it in whole numbers: 1800 is "30 minutes". */
export function durationIn(locale: string, seconds: number): string {
  const largest = units.find((each) => seconds >= each.seconds && seconds % each.seconds === 0) ?? {
    unit: 'second',
    seconds: 1,
  };
  const format = new Intl.NumberFormat(locale, { style: 'unit', unit: largest.unit, unitDisplay: 'long' });
  return format.format(seconds / largest.seconds);
}
