/**
 * How a request names one kind of action, by its own fields. Each kind has a row in `schedules/actions.ts`; `Input`
 * are the fields of its area.
 */
export interface ActionInput<Input, Fields> {
  /** Works on hosts: takes `inventory` and `limit`, which other kinds refuse. */
  readonly hosts?: true;
  /** Reads the action, and throws invalid_argument; null where the request does not name this kind. */
  read(input: Input): ((timeout: string | null) => Fields) | null;
  /** Why fields that belong to this kind only are refused; null if no such field is given. */
  refusal(input: Input, instead: 'another kind' | 'no kind'): string | null;
}
