import { subjectOf } from '../../domain/events/causes.ts';
import { leaveCause } from '../../store/events/causes.ts';
import * as z from 'zod';
import { OPERATORS } from '../../domain/access/scope.ts';
import { jobTimeoutMs } from '../../domain/jobs/timeout.ts';
import { queueVendor } from '../../jobs/vendor/queue.ts';
import * as field from '../core/fields.ts';
import { localOnly, writeOperation } from '../core/operation.ts';
import { queueingOf, writtenJob } from '../jobs/queued.ts';
import { refuseHooks } from '../sources/refuse-hooks.ts';

const vendor = writeOperation({
  id: 'vendor',
  summary: 'Fetch the collections, roles and providers that a source declares',
  effect: 'enqueue',
  scopes: OPERATORS,
  ...localOnly('Sources are configured on the machine only, and so is what is fetched for them.'),
  cli: {
    verb: 'vendor',
    wait: 'job',
    positionals: ['source'],
    examples: ['svc vendor ops --wait', 'svc vendor ops --timeout 30m'],
  },
  input: z.strictObject({
    source: field.name.describe('Registered source'),
    timeout: field.timeout,
    summary: field.summary,
  }),
  answers: ['job.enqueued'],
  failures: ['not_found', 'conflict', 'not_implemented'],
  prepare: (context, { source }) => refuseHooks(context, source),
  async run(context, { source, timeout, summary }) {
    const request = { source, timeoutMs: jobTimeoutMs(timeout) };
    // Later jobs of the source have what it fetched. Its run notes that once more, but may be lost before it does.
    await leaveCause(context.tx, subjectOf('source', source), context.caller.owner);
    return writtenJob(await queueVendor(queueingOf(context, summary), request), { source });
  },
});

export const VENDOR_OPERATIONS = [vendor];
