import type { JobKind } from '../domain/jobs/job.ts';
import { commandRunner } from './command/command.ts';
import type { Runner } from './runner.ts';
import { terraformRunner } from './terraform/terraform.ts';

/** The kinds that can run; the others are refused when they are queued until their runner exists. */
export const RUNNERS: Partial<Readonly<Record<JobKind, Runner>>> = {
  plan: terraformRunner,
  apply: terraformRunner,
  destroy: terraformRunner,
  drift: terraformRunner,
  command: commandRunner,
};
