/** The causes of an app's failures: their numbers, beginnings and last times. */
import type { ReasonKind } from '../error.ts';
import type { FAILURES, Span } from './app-tally.ts';

/** The beginning and the last one of failures (ms). `mayBeEarlier`: they may have begun before, where nothing is known. */
export type FailurePeriod = { readonly beganAt: number; readonly mayBeEarlier: boolean; readonly lastAt: number };

/** A counter of failures. */
export type FailureCounter = (typeof FAILURES)[number];

/** The reason of recorded failures. */
export type FailureReason = {
  /** A short text for addresses. */
  readonly key: string;
  /** The `error_description` of the answers, without its times. */
  readonly text: string;
  /** The kind of the reason, which the developers' page explains; null for any other. */
  readonly kind: ReasonKind | null;
  /** The `error` value of the answers. */
  readonly error: string;
};

/** Recorded failures of one cause, with their times (ms), newest first. */
export type RecordedCause = {
  readonly reason: FailureReason;
  readonly times: readonly number[];
};

/** Failures of one cause: a reason, or null where none was recorded: `beganAt` and `lastAt` are then the beginnings of hours. */
export type FailureCause = FailurePeriod & {
  readonly counter: FailureCounter;
  readonly reason: FailureReason | null;
  /** True for failures without a recorded reason, of a counter that has recorded ones too: they are most likely of the same causes. */
  readonly isRest: boolean;
  /** Number in 24 hours; `isAtLeast` if some of those that were not recorded may belong to it. */
  readonly count: number;
  readonly isAtLeast: boolean;
};

/** The number of an app's failures in the 24 hours that end with the hour that has just begun. */
export type FailureTotal = {
  readonly failures: number;
  /** Number of all counted requests and decisions, with the failures. */
  readonly counted: number;
  /** In hours; null without a failure in 48 hours. */
  readonly period: FailurePeriod | null;
};

/** Those failures, with their causes. */
export type FailureSummary = FailureTotal & {
  /** The most frequent in 24 hours first, then the rest of them, then earlier ones. */
  readonly causes: readonly FailureCause[];
  /** True if more failed in 24 hours than are recorded of one app. */
  readonly isPartlyRecorded: boolean;
};

/**
 * The number of refused requests since a time, counted by hours, or by days if that is more than two days ago. `isWhole` is false if
 * it is before the days that are kept. `isAtLeast` if more were counted in the hour or day of that time, of which nothing says if
 * they came before it.
 */
export type RefusedSince = {
  readonly isWhole: boolean;
  readonly span: Span;
  readonly refused: number;
  readonly isAtLeast: boolean;
};
