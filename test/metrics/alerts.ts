/** The rules under deploy/prometheus, as they stand there, and the names that a text of rules or of a dashboard asks for. */
import { readFileSync } from 'node:fs';

/** An alert: its expression, and the comparison with which that ends. */
export type Alert = { readonly name: string; readonly expression: string; readonly threshold: number };

/** All alerts, by name. */
export function readAlerts(): ReadonlyMap<string, Alert> {
  const text = readFileSync(new URL('../../deploy/prometheus/rules.yml', import.meta.url), 'utf8');
  const found = [...text.matchAll(/- alert: (\w+)\n\s+expr: (.* (?:>|==) ([\d.]+))\n/g)];
  const alerts = found.map(([, name = '', expression = '', limit = '']) => {
    return [name, { name, expression, threshold: Number(limit) }] as const;
  });
  if (alerts.length !== text.match(/- alert:/g)?.length) throw new Error('a rule does not end with a comparison');
  return new Map(alerts);
}

/** The names of figures that an expression asks for. */
export function figuresIn(expression: string): string[] {
  return [...expression.matchAll(/\b(?:valetkey|nodejs|process)_\w+/g)].map(([name]) => name);
}
