/** A figure with its name, its kind and a sentence, and how it becomes the lines that Prometheus reads. */
import type { Distribution } from '../process/distribution.ts';

/** One line: a value under its labels. `metricName` is that of the line, where it is not the family's own. */
export type Sample = {
  readonly value: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly metricName?: string;
};

/** What is read of `Of` under one name. Labels are names of the program: what a request says is never one. */
export type Family<Of> = {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly read: (of: Of) => readonly Sample[];
};

/** What only grows. */
export function counter<Of>(name: string, help: string, read: Family<Of>['read']): Family<Of> {
  return { name, type: 'counter', help, read };
}

/** What goes up and down. */
export function gauge<Of>(name: string, help: string, read: Family<Of>['read']): Family<Of> {
  return { name, type: 'gauge', help, read };
}

/** Distributions, each with its labels. */
export function histogram<Of>(
  name: string,
  help: string,
  read: (of: Of) => readonly (readonly [labels: Readonly<Record<string, string>>, distribution: Distribution])[],
): Family<Of> {
  const linesOf = (of: Of) => read(of).flatMap(([labels, distribution]) => bucketsOf(name, labels, distribution));
  return { name, type: 'histogram', help, read: linesOf };
}

/** A number without labels; none where there is nothing to tell. */
export function one(value: number | null | undefined): readonly Sample[] {
  return value === null || value === undefined ? [] : [{ value }];
}

/** Numbers by the values of a label. */
export function by(label: string, values: Readonly<Record<string, number>>): readonly Sample[] {
  return Object.entries(values).map(([name, value]) => ({ value, labels: { [label]: name } }));
}

/** Each bucket holds what is in the smaller ones too. */
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
