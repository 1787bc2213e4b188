declare module '../schema.ts' {
  interface Schema {
    backups: BackupRow;
  }
}

/** A backup that was made and read to its end. */
export interface BackupRow {
  id: string;
  job_id: string;
  /** As its job names it. */
  name: string;
  /** The name of its file, without the directory. */
  file: string;
  /** The machine whose directory it was written to: another one may not see it. */
  host: string;
  /** When its copy began. */
  created_at: number;
  size_bytes: number;
  /** Of its file, hex. */
  sha256: string;
  /** When it was last read to its end; null when it could not be. */
  verified_at: number | null;
  /** When newer ones took its place; its file may still be there. */
  removed_at: number | null;
  order_tag: string | null;
  order_key_id: string | null;
}
