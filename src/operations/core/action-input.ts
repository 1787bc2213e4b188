/**
 * How a request names one kind of action, by fields of its own. Each kind has a row in `schedules/actions.ts`; `Input`
 * are the fields of its area.
 */
export interface ActionInput<Input, Fields> {
  /** Reads the action, and throws invalid_argument; null where the request does not name this kind. */
  read(input: Input): ((timeout: string | null) => Fields) | null;
  /** Why fields that only go with this kind are refused; null where there are none. */
  refusal(input: Input, instead: 'another kind' | 'no kind'): string | null;
}
