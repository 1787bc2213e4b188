import { splitHostPort } from '../../../lib/host-port.ts';
import { readHostAndPort } from '../host.ts';
import type { CheckKindFacts } from '../kind.ts';

const MIN_DAYS_DEFAULT = 14;

/** Up when the certificate is trusted, and does not end soon. A name is the usual target: a certificate has names. */
export const tls: CheckKindFacts<'tls'> = {
  takes: ['min_days'],
  readOptions: ({ min_days: minDays = MIN_DAYS_DEFAULT }) => ({ minDays }),
  show: ({ minDays }) => ({ min_days: minDays }),
  form: 'IP:PORT or HOST:PORT',
  example: 'web1=www.example.org:443',
  readTarget(text) {
    const spec = readHostAndPort(text);
    return spec === null ? null : { spec, credentials: null };
  },
  hostOf: (spec) => splitHostPort(spec).host,
};
