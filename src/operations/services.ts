import type { DoctorEntry } from '../doctor/entry.ts';
import type { Clock } from '../lib/clock.ts';

/** What operations ask of the process they run in. `app.ts` provides it. */
export interface Services {
  readonly clock: Clock;
  readonly server: { readonly version: string; readonly hostname: string | null; readonly startedAt: number | null };
  /** Whether this process has a job queue; the maintenance routes are `unavailable` without. */
  readonly hasQueue: boolean;
  /** A job may have become claimable, a cancel was asked, or the cordon was lifted. */
  wake(): void;
  /** Resolves when the job may have new events, or when `signal` aborts. Spurious wake-ups are allowed. */
  jobChanged(jobId: string, signal: AbortSignal): Promise<void>;
  /** Tells the followers of a job in this process that it has new events. */
  announceJob(jobId: string): void;
  doctor(): Promise<readonly DoctorEntry[]>;
  /** Makes the secret part of a token: salted, memory-hard, keyed by the seal key file. */
  hashToken(secret: string, salt: Uint8Array): Promise<Uint8Array>;
}
