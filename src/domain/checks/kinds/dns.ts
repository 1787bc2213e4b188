import { readHostName } from '../host.ts';
import type { CheckKindFacts } from '../kind.ts';

/** Up when the name has an address, and the expected one where one is expected. */
export const dns: CheckKindFacts<'dns'> = {
  takes: ['expect_addr'],
  readOptions: ({ expect_addr: expectAddr = null }) => ({ expectAddr }),
  show: ({ expectAddr }) => ({ expect_addr: expectAddr }),
  form: 'HOSTNAME',
  example: 'web1=www.example.org',
  readTarget(text) {
    const spec = readHostName(text);
    return spec === null ? null : { spec, credentials: null };
  },
  hostOf: (spec) => spec,
};
