import type { State } from './workspace.ts';

/** A state of 10,000 resources has some 20 MB. */
export const STATE_MAX_BYTES = 128 * 1024 * 1024;

/** Reads a state. Null for what is no whole state: terraform may be writing it at this moment. */
export function parseState(bytes: Buffer): State | null {
  let json: unknown;
  try {
    json = JSON.parse(bytes.toString('utf8'));
  } catch {
    return null;
  }
  if (typeof json !== 'object' || json === null) return null;
  const { serial, lineage, resources } = json as { serial?: unknown; lineage?: unknown; resources?: unknown };
  if (typeof serial !== 'number' || !Number.isSafeInteger(serial) || serial < 0 || typeof lineage !== 'string')
    return null;
  return { bytes, serial, lineage, resources: countInstances(resources) };
}

/** A resource with `count` or `for_each` is listed once, with its instances. */
function countInstances(resources: unknown): number {
  if (!Array.isArray(resources)) return 0;
  return resources.reduce<number>(
    (sum, each: { instances?: unknown } | null) => sum + (Array.isArray(each?.instances) ? each.instances.length : 0),
    0,
  );
}
