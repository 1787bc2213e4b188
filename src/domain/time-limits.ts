/** Longest times that the setting or the sender of a time may ask for, in milliseconds. */

/** Of `--lease`: a daemon without a sign of life for this time counts as dead, however it was started. */
export const LEASE_MAX_MS = 600_000;
/** Between two tries of a delivery: longer than our own waits, and the most that is taken from a Retry-After. */
export const RETRY_WAIT_MAX_MS = 600_000;
