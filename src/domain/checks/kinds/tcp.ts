import { splitHostPort } from '../../../lib/host-port.ts';
import { readAddressAndPort } from '../host.ts';
import type { CheckKindFacts } from '../kind.ts';

/** Up when a connection to the port is accepted. */
export const tcp: CheckKindFacts<'tcp'> = {
  takes: [],
  readOptions: () => ({}),
  show: () => ({}),
  form: 'IP:PORT',
  example: 'web1=10.0.0.5:443',
  readTarget(text) {
    const spec = readAddressAndPort(text);
    return spec === null ? null : { spec, credentials: null };
  },
  hostOf: (spec) => splitHostPort(spec).host,
  inNetgroups: true,
};
