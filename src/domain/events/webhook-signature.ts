/** How far the time that a signature of a message says may be from the clock of the daemon that checks it. */
export const SIGNATURE_TOLERANCE_MS = 300_000;
