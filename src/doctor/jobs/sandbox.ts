import type { Facts, Finding } from '../entry.ts';

/** Reports what the sandbox can enforce. Without it every sandboxed job fails, so that is not only a warning. */
export function examineSandbox(facts: Facts): Promise<Finding> {
  return facts.sandbox();
}
