import { Failure } from '../../failure.ts';
import { hostOfUrl } from '../../../lib/host-port.ts';
import type { CheckKindFacts } from '../kind.ts';
import { readUrl } from '../url.ts';

/** Up when the number that the URL answers compares as expected. */
export const metric: CheckKindFacts<'metric'> = {
  takes: ['op', 'value', 'pointer'],
  readOptions({ op, value, pointer = null }) {
    if (op === undefined || value === undefined)
      throw new Failure('invalid_argument', 'op, value: required for a check of kind metric.');
    return { op, value, pointer };
  },
  show: ({ op, value, pointer }) => ({ op, value, pointer }),
  form: 'URL',
  example: 'web1=http://10.0.0.5:9090/api/v1/query?query=up',
  readTarget: readUrl,
  hostOf: (spec) => hostOfUrl(new URL(spec)),
};
