declare module '../schema.ts' {
  interface Schema {
    host_results: HostResultRow;
  }
}

/** The end of a command on one host. */
export interface HostResultRow {
  job_id: string;
  host: string;
  status: 'ok' | 'failed' | 'unreachable';
  rc: number | null;
  stdout: string;
  stderr: string;
}
