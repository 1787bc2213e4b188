import { canonicalAddress } from '../../../lib/ip/address.ts';
import type { CheckKindFacts } from '../kind.ts';

/** Up when the host answers an echo request. */
export const ping: CheckKindFacts<'ping'> = {
  takes: [],
  readOptions: () => ({}),
  show: () => ({}),
  form: 'IP',
  example: 'web1=10.0.0.5',
  readTarget(text) {
    const spec = canonicalAddress(text);
    return spec === null ? null : { spec, credentials: null };
  },
  hostOf: (spec) => spec,
  inNetgroups: true,
};
