/** The `spec` of a vendor job. */
export interface VendorSpec {
  readonly source: string;
}

/** One at a time for a source: the newest files are those of the job that ended last. */
export function vendorKey(source: string): string {
  return `vendor:${source}`;
}
