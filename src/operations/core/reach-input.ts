import * as z from 'zod';
import { BOTH_FAULT, givenReach, reachOf, type Reach, writableOf } from '../../domain/actions/reach.ts';
import { Failure } from '../../domain/failure.ts';
import { writableFault, writablePaths } from '../../domain/jobs/writable.ts';
import * as field from './fields.ts';
import type { Services } from './services.ts';

/** What a command or a playbook may reach beside the sandbox of every job. */
export const REACH_FIELDS = {
  egress_ports: field.egressPorts.describe('Allowed outbound TCP port besides 22; repeatable'),
  privileged: field.flag.describe('Run outside the kernel sandbox; marked and counted'),
  writable: z
    .array(z.string())
    .default([])
    .superRefine((texts, context) => {
      const fault = writableFault(texts);
      if (fault !== null) context.addIssue({ code: 'custom', message: fault });
    })
    .transform(writablePaths)
    .describe('Directory outside its run that the job may write; repeatable'),
};

/** Fields that only the machine itself may use. */
export const MACHINE_ONLY = ['privileged', 'writable'] as const;

type Input = z.output<z.ZodObject<typeof REACH_FIELDS>>;

/** Throws invalid_argument. */
export function reachIn({ egress_ports: egressPorts, privileged, writable }: Input): Reach {
  if (privileged && writable.length > 0) throw new Failure('invalid_argument', `writable: ${BOTH_FAULT}.`);
  return givenReach({ egressPorts, privileged, writable });
}

export function hasReach({ egress_ports: ports, privileged, writable }: Input): boolean {
  return ports.length > 0 || privileged || writable.length > 0;
}

/** Checks on this machine what actions or a job may write. Throws invalid_argument. */
export function requireWritable({ outside }: Pick<Services, 'outside'>, ...orders: readonly object[]): void {
  for (const order of orders) outside.check(writableOf(order));
}

/** For the ledger: a flag and a count, no paths. */
export function reachDetail({ privileged, writable }: Required<Reach>): Readonly<Record<string, unknown>> {
  return { privileged, ...(writable.length > 0 ? { writable: writable.length } : {}) };
}

/** The same of an action of any kind; nothing for one that stays in the sandbox. */
export function actionDetail(action: object): Readonly<Record<string, unknown>> {
  const { privileged, writable } = reachOf(action);
  return privileged || writable.length > 0 ? reachDetail({ privileged, writable, egressPorts: [] }) : {};
}
