import type { KindFacts } from '../jobs/kind.ts';
import type { VendorSpec } from './vendor.ts';

export const vendorKind: KindFacts<VendorSpec> = {
  readSpec: (json) => JSON.parse(json) as VendorSpec,
  runbook: ({ source }) => `vendor:${source}`,
  words: { title: (of) => `Vendor ${of}`, short: 'vendor run' },
  stop: 'group',
  startsAtOnce: false,
  oneTap: 'never',
  makesPlan: false,
  destroysAll: false,
};
