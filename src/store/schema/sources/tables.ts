import type { SourceKind } from '../../../domain/sources/source.ts';
import type { RunApprovalColumns } from '../gate/tables.ts';

declare module '../schema.ts' {
  interface Schema {
    sources: SourceRow;
  }
}

export interface SourceRow extends RunApprovalColumns {
  name: string;
  kind: SourceKind;
  /**
   * The URL or the directory. Never shown: a URL may be refused for its credentials, but not every form of them is
   * known.
   */
  location: string;
  ref: string | null;
  commit_id: string | null;
  synced_at: number | null;
  created_at: number;
  /** 1: Ansible may load the plugins of the source. */
  plugins: 0 | 1;
  /** JSON: what the directory was on each machine when a person named it, see `withKept`. Null for another source. */
  dir_kept: string | null;
  /** Its tag (`engine/tags`) and the id of the tag's key; null in rows of earlier builds. */
  order_tag: string | null;
  order_key_id: string | null;
}
