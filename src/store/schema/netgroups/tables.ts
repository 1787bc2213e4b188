declare module '../schema.ts' {
  interface Schema {
    netgroups: NetgroupRow;
  }
}

export interface NetgroupRow {
  id: string;
  name: string;
  /** CIDR prefixes in their canonical form, with commas between them. */
  prefixes: string;
  /** As `prefixes`: addresses that are in no group. */
  excludes: string;
  created_at: number;
  updated_at: number;
}
