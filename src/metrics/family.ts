/** A metric with its name, kind and help sentence, and its lines in Prometheus' format. */
import type { Distribution } from '../process/distribution.ts';

/** One line: a value with labels. `metricName` is set if it differs from the family's. */
export type Sample = {
  readonly value: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly metricName?: string;
};

/** A metric that is read of `Of`. Labels are names from the program, never from a request. */
export type Family<Of> = {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly read: (of: Of) => readonly Sample[];
};

/** Describes a value that only grows. */
export function counter<Of>(name: string, help: string, read: Family<Of>['read']): Family<Of> {
  return { name, type: 'counter', help, read };
}

/** Describes a value that goes up and down. */
export function gauge<Of>(name: string, help: string, read: Family<Of>['read']): Family<Of> {
  return { name, type: 'gauge', help, read };
}

/** Describes distributions, each with its labels. */
export function histogram<Of>(
  name: string,
  help: string,
  read: (of: Of) => readonly (readonly [labels: Readonly<Record<string, string>>, distribution: Distribution])[],
): Family<Of> {
  const linesOf = (of: Of) => read(of).flatMap(([labels, distribution]) => bucketsOf(name, labels, distribution));
  return { name, type: 'histogram', help, read: linesOf };
}

/** Returns a sample without labels, or none for a missing value. */
export function one(value: number | null | undefined): readonly Sample[] {
  return value === null || value === undefined ? [] : [{ value }];
}

/** Returns samples by the values of one label. */
export function by(label: string, values: Readonly<Record<string, number>>): readonly Sample[] {
  return Object.entries(values).map(([name, value]) => ({ value, labels: { [label]: name } }));
}

/** Each bucket includes the smaller ones. */
function bucketsOf(name: string, labels: Readonly<Record<string, string>>, { bounds, counts, sum }: Distribution) {
  let count = 0;
  const buckets = Array.from(counts, (inBucket, at) => {
    count += inBucket;
    return { metricName: `${name}_bucket`, labels: { ...labels, le: String(bounds[at] ?? '+Inf') }, value: count };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: count },
  ];
}
