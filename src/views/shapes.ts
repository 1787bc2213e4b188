import * as z from 'zod';
import { APPROVE_RUNS } from '../domain/gate/run-approval.ts';

/** RFC 3339 in UTC with milliseconds. */
export const time = z.iso.datetime({ precision: 3 });
export const count = z.int().nonnegative();
/** Of a job that waits or waited for approval: the commit of the source that its request was about. */
export const sourceCommit = z.string().optional();
/** The reason that the requester gave. */
export const because = z.string().optional();
/** Which runs need an approval, where somebody has set it. */
export const runApproval = { approve_runs: z.enum(APPROVE_RUNS).optional(), except_check: z.literal(true).optional() };
