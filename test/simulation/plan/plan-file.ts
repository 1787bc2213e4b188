import { readFileSync, writeFileSync } from 'node:fs';
import * as z from 'zod';
import type { Plan } from './plan.ts';

const PLAN = z.strictObject({
  /** What happened, for people. */
  about: z.string(),
  seed: z.int().min(0),
  daemons: z.int().min(1).max(5),
  parts: z.array(z.string()),
  chanceKills: z.boolean(),
  actions: z.array(z.looseObject({ afterMs: z.number().min(0), do: z.string() })),
});

/** Throws an Error that names the file. */
export function readPlan(file: string): Plan {
  const read = PLAN.safeParse(JSON.parse(readFileSync(file, 'utf8')));
  if (!read.success) throw new Error(`${file} is not a plan: ${z.prettifyError(read.error)}`);
  return read.data as unknown as Plan;
}

export function writePlan(file: string, { seed, daemons, parts, chanceKills, actions }: Plan, about: string): void {
  writeFileSync(file, `${JSON.stringify({ about, seed, daemons, parts, chanceKills, actions }, null, 2)}\n`);
}
