/** What a daemon runs, its last restart in place and reload, by its name. See schema.ts for the conventions. */
export interface RestartRow {
  node: string;
  daemon_id: string;
  /** JSON: a `ProgramFiles`. */
  program: string;
  /** Of the files of the program when the daemon started; null until it is known. */
  digest: string | null;
  /** `executing`: the daemon ends, and the new program has not started yet. */
  state: 'idle' | 'requested' | 'draining' | 'executing' | 'aborted';
  forced: 0 | 1;
  /** 1 while the restart itself keeps the daemon from claiming; an operator's cordon is another row. */
  cordoned: 0 | 1;
  requested_at: number | null;
  drain_deadline: number | null;
  finished_at: number | null;
  /** Of the program that was tried, and is to be started. */
  wanted_digest: string | null;
  /** Why it was aborted. */
  reason: string | null;
  /** When the command line on the machine last requested that the settings are read again. */
  reload_requested_at: number | null;
  /** JSON: a `ReloadAnswer` to that request; null until it is there. */
  reload_answer: string | null;
}
