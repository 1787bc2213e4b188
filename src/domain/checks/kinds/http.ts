import { Failure } from '../../failure.ts';
import { hostOfUrl } from '../../../lib/host-port.ts';
import type { CheckKindFacts } from '../kind.ts';
import { readUrl } from '../url.ts';

/** Up when the status, and the body where a text of it is expected, are as expected. */
export const http: CheckKindFacts<'http'> = {
  takes: ['expect', 'method', 'expect_body'],
  readOptions({ expect = 0, method = 'GET', expect_body: expectBody = null }) {
    if (expectBody !== null && method !== 'GET')
      throw new Failure('invalid_argument', `expect_body: an answer to ${method} has no body; use the method GET.`);
    return { expect, method, expectBody };
  },
  show: ({ expect, method, expectBody }) => ({ expect, method, expect_body: expectBody }),
  form: 'URL',
  example: 'web1=https://www.example.org/health',
  readTarget: readUrl,
  hostOf: (spec) => hostOfUrl(new URL(spec)),
};
