import { NO_PLAN_INPUTS, type PlanInputs } from '../../domain/workspaces/inputs.ts';

/**
 * What is sealed of a plan: its file, and before it the inputs that its apply needs again, as a line of JSON. So they
 * are what the digest of an approval covers. A plan without such inputs is its file alone, as in earlier builds.
 */

interface PlanContent {
  readonly file: Uint8Array;
  readonly inputs: PlanInputs;
}

/** A plan file is a ZIP archive, which begins otherwise. */
const MARK = Buffer.from('gatehouse-plan-1 ');
const LINE_END = 0x0a;

export function packPlan({ file, inputs }: PlanContent): Uint8Array {
  if (inputs.varFiles.length === 0 && Object.keys(inputs.vars).length === 0) return file;
  return Buffer.concat([MARK, Buffer.from(`${JSON.stringify(inputs)}\n`), file]);
}

export function unpackPlan(bytes: Uint8Array): PlanContent {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!all.subarray(0, MARK.length).equals(MARK)) return { file: bytes, inputs: NO_PLAN_INPUTS };
  const end = all.indexOf(LINE_END);
  const inputs = JSON.parse(all.toString('utf8', MARK.length, end)) as PlanInputs;
  return { file: all.subarray(end + 1), inputs };
}
