/** States of jobs, for SQL. */
export const ENDED = "('succeeded', 'failed', 'cancelled', 'interrupted')";
