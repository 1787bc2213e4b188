declare module '../schema.ts' {
  interface Schema {
    secrets: SecretRow;
    seal: SealRow;
  }
}

export interface SecretRow {
  project: string;
  name: string;
  version: number;
  sealed: Uint8Array;
  key_id: string;
  created_at: number;
  updated_at: number;
}

/** The key that the daemons of this store seal with. */
export interface SealRow {
  id: 1;
  key_id: string;
  created_at: number;
  /** When an operator last exported the key file, and the key that sealed then; null before. */
  exported_at: number | null;
  exported_key_id: string | null;
}
