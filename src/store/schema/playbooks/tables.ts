declare module '../schema.ts' {
  interface Schema {
    playbook_runs: PlaybookRunRow;
    playbook_hosts: PlaybookHostsRow;
  }
}

export interface PlaybookRunRow {
  job_id: string;
  /** Stored hosts and tasks, and those that there were besides. */
  hosts: number;
  hosts_cut: number;
  tasks: number;
  tasks_cut: number;
  /** The tasks, encoded (`store/playbooks/results.ts`). */
  data: Uint8Array;
}

export interface PlaybookHostsRow {
  job_id: string;
  /** The number of its first host; hosts are counted from 0, by name. */
  first: number;
  data: Uint8Array;
}
