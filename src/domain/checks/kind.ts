import type { CheckKind, CheckOptions, HttpMethod, MetricOp } from './check.ts';

/** The own fields of all kinds, as a body has them. */
export interface OwnFields {
  readonly min_days?: number | undefined;
  readonly expect?: number | undefined;
  readonly method?: HttpMethod | undefined;
  readonly expect_body?: string | undefined;
  /** In its canonical form. */
  readonly expect_addr?: string | undefined;
  readonly op?: MetricOp | undefined;
  readonly value?: number | undefined;
  readonly pointer?: string | undefined;
}

export type OwnField = keyof OwnFields;

/** The own fields of one kind, as its view has them. */
export interface ShownFields {
  readonly min_days?: number;
  readonly expect?: number;
  readonly method?: HttpMethod;
  readonly expect_body?: string | null;
  readonly expect_addr?: string | null;
  readonly op?: MetricOp;
  readonly value?: number;
  readonly pointer?: string | null;
}

/** A specification in its canonical form, and the credentials that its URL had. */
export interface TargetSpec {
  readonly spec: string;
  /** `user:password`, as the URL spells it; null without any. */
  readonly credentials: string | null;
}

/** What a kind says of itself. Each is a file in `kinds/`, and a row of `CHECK_KIND_FACTS`. */
export interface CheckKindFacts<K extends CheckKind> {
  readonly takes: readonly OwnField[];
  /** Of the fields that it takes. Throws invalid_argument, also for a missing one that has no default. */
  readOptions(fields: OwnFields): CheckOptions[K];
  show(options: CheckOptions[K]): ShownFields;
  /** What follows `NAME=` in a target. */
  readonly form: string;
  /** A target whose name is `web1`. */
  readonly example: string;
  /** Null for what is no target of the kind. */
  readTarget(this: void, text: string): TargetSpec | null;
  /** What a probe dials or looks up: an address, or a host name. */
  hostOf(this: void, spec: string): string;
  /** Of kinds whose targets are addresses. */
  readonly inNetgroups?: true;
}
