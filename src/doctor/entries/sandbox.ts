import { fail, type Facts, type Finding, ok } from '../entry.ts';

/** The kernel can hold sandboxed jobs. Where it can't, every such job fails, so this is no mere warning. */
export async function examineSandbox(facts: Facts): Promise<Finding> {
  const { ok: works, detail } = await facts.sandbox();
  return works ? ok(detail) : fail(detail);
}
