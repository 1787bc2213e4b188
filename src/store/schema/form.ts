interface Form<R, C extends keyof R> {
  /** Begins the text. */
  readonly what: string;
  /** In messages; default: `what`. */
  readonly called?: string;
  /** What names a row. */
  readonly key: readonly (C & string)[];
  /** All that makes the order: not what changes while it exists, such as the state of a job. */
  readonly columns: readonly C[];
  /** Optional ones, with those up to the last that is set: to leave out one before it would give two rows one text. */
  readonly later?: readonly C[];
  /** What earlier builds covered in the rows that they tagged, where it was less. */
  readonly earlier?: readonly C[];
  /** Whether an earlier build tagged such a row. Absent: it tagged none of the table. */
  readonly hadTag?: (row: Pick<R, C>) => boolean;
}

/** The form of a table, with its columns as literal types. */
export const form =
  <R>() =>
  <const C extends keyof R>(of: Form<R, C>): Form<R, C> =>
    of;
