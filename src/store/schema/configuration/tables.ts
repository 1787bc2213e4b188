declare module '../schema.ts' {
  interface Schema {
    config_objects: ConfigObjectRow;
    config_orders: ConfigOrderRow;
  }
}

/** An object that a configuration file manages. See schema.ts for the conventions. */
export interface ConfigObjectRow {
  /** The word for its kind, such as `check`. */
  kind: string;
  name: string;
  /** The `set` of the file. */
  config_set: string;
  /** Of what the file said, without credentials. */
  digest: string;
  applied_at: number;
}

/** What a job that changes the configuration works on. */
export interface ConfigOrderRow {
  job_id: string;
  /** Its text. */
  file: string;
  /** JSON: what people see of the changes. */
  changes: string;
}
