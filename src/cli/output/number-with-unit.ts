/** A number with its unit, in the singular for one. */
export function numberWithUnit(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`;
}
