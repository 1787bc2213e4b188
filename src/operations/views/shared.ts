import * as z from 'zod';

/** RFC 3339 in UTC with milliseconds. */
export const time = z.iso.datetime({ precision: 3 });
export const count = z.int().nonnegative();
