import { fail, type Facts, type Finding, ok } from '../entry.ts';

/** Checks that the kernel supports the sandbox. Without it every sandboxed job fails, so this is not only a warning. */
export async function examineSandbox(facts: Facts): Promise<Finding> {
  const { ok: works, detail } = await facts.sandbox();
  return works ? ok(detail) : fail(detail);
}
