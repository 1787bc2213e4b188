const WORDS = /privileged|writable|\\u/;

/** The same of a stored workflow: one of its steps does. */
export function workflowLeavesSandbox(stored: string): boolean {
  if (!WORDS.test(stored)) return false;
  try {
    const { steps } = JSON.parse(stored) as { readonly steps: readonly { readonly action: unknown }[] };
    return steps.some(({ action }) => leavesSandbox(false, JSON.stringify(action)));
  } catch {
    return true;
  }
}

/** The column of a job that may write outside its run, in its sandbox. */
export function writesOutside(privileged: boolean, stored: string): 0 | 1 {
  return !privileged && leavesSandbox(false, stored) ? 1 : 0;
}

/**
 * Whether an order reaches beyond the sandbox of its run: it is privileged, or may write paths outside its run.
 * `stored` is the JSON of a job's spec or of an action. An order that cannot be parsed counts as such an order.
 */
export function leavesSandbox(privileged: boolean, stored: string): boolean {
  if (privileged) return true;
  // Most orders contain neither word and are not parsed.
  if (!WORDS.test(stored)) return false;
  try {
    const order = JSON.parse(stored) as { readonly privileged?: unknown; readonly writable?: unknown } | null;
    const writable = order?.writable ?? [];
    return (order?.privileged ?? false) !== false || !Array.isArray(writable) || writable.length > 0;
  } catch {
    return true;
  }
}
