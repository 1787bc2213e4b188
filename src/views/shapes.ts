import * as z from 'zod';

/** RFC 3339 in UTC with milliseconds. */
export const time = z.iso.datetime({ precision: 3 });
export const count = z.int().nonnegative();
/** Of a job that waits or waited for approval: the commit of the source that its request was about. */
export const sourceCommit = z.string().optional();
/** The reason that the requester gave. */
export const because = z.string().optional();
