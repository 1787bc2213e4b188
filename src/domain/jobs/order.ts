/**
 * Whether an order reaches beyond the sandbox of its run: it is privileged, or may write paths outside its run.
 * `stored` is the JSON of a job's spec or of an action. An order that cannot be parsed counts as such an order.
 */
export function needsTag(privileged: boolean, stored: string): boolean {
  if (privileged) return true;
  // Most orders contain neither word and are not parsed.
  if (!/privileged|writable|\\u/.test(stored)) return false;
  try {
    const order = JSON.parse(stored) as { readonly privileged?: unknown; readonly writable?: unknown } | null;
    const writable = order?.writable ?? [];
    return (order?.privileged ?? false) !== false || !Array.isArray(writable) || writable.length > 0;
  } catch {
    return true;
  }
}
