/** The oracle by area. What has no row here is counted in the summary of a run. */
import { APPROVALS } from './areas/approvals.ts';
import { CORDON } from './areas/cordon.ts';
import { EVENTS } from './areas/events.ts';
import { JOBS } from './areas/jobs.ts';
import { OBJECTS } from './areas/objects.ts';
import { SCHEDULES } from './areas/schedules.ts';
import { TOKENS } from './areas/tokens.ts';
import { WORKFLOWS } from './areas/workflows.ts';
import type { Move, OperationRule, OracleArea } from './rule.ts';

const AREAS: readonly OracleArea[] = [JOBS, APPROVALS, WORKFLOWS, SCHEDULES, EVENTS, CORDON, TOKENS, OBJECTS];

export const RULES: ReadonlyMap<string, OperationRule> = new Map(
  AREAS.flatMap(({ operations = {} }) => Object.entries(operations)),
);

export const MOVES: ReadonlyMap<string, Move> = new Map(AREAS.flatMap(({ moves = {} }) => Object.entries(moves)));
