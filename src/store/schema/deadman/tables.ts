declare module '../schema.ts' {
  interface Schema {
    deadmen: DeadmanRow;
  }
}

export interface DeadmanRow {
  name: string;
  webhook: string;
  every_ms: number;
  added_by: string;
  created_at: number;
  /** When its silence was reported; null while it is heard. */
  tripped_at: number | null;
}
