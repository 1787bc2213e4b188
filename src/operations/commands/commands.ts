import * as z from 'zod';
import { COMMAND_BYTES_MAX, COMMAND_WORDS_MAX, commandBytes } from '../../domain/commands/command.ts';
import { CUT_MARK, STREAM_BYTES_MAX } from '../../domain/commands/hosts.ts';
import { LOCALHOST } from '../../domain/inventories/inventory.ts';
import { reachOf } from '../../domain/actions/reach.ts';
import { commandKind } from '../../domain/commands/kind.ts';
import { Failure } from '../../domain/failure.ts';
import { isTerminal } from '../../domain/jobs/job.ts';
import { KINDS } from '../../domain/kinds.ts';
import { jobTimeoutMs } from '../../domain/jobs/timeout.ts';
import { OPERATORS, READERS } from '../../domain/access/scope.ts';
import { requestTurn } from '../../lib/flow/cooperative.ts';
import { queueCommand } from '../../jobs/commands/queue.ts';
import { targetsDetail } from '../../jobs/inventories/targets.ts';
import { listHostResults } from '../../store/commands/host-results.ts';
import { getJob } from '../../store/jobs/jobs.ts';
import type { Db, JobRow } from '../../store/schema/schema.ts';
import { hideCredentials } from '../core/sections/kept.ts';
import * as field from '../core/fields.ts';
import { MACHINE_ONLY, REACH_FIELDS, reachDetail, reachIn, requireWritable } from '../core/reach-input.ts';
import { readEventBatches } from '../jobs/job-events.ts';
import { queueingOf, writtenJob } from '../jobs/queued.ts';
import { localOnly, readOperation, writeOperation } from '../core/operation.ts';
import { reply } from '../core/reply.ts';

/** Output that is looked through for it: a job that prints on one stream alone would else be read to its end. */
const RESULT_SCAN_BYTES_MAX = 8 * 1024 * 1024;

const run = writeOperation({
  id: 'command.run',
  summary: 'Queue an ad-hoc command',
  effect: 'enqueue',
  scopes: OPERATORS,
  http: { method: 'POST', path: '/commands/run', omit: MACHINE_ONLY },
  cli: {
    verb: 'command run',
    wait: 'result',
    positionals: ['command'],
    examples: [
      'svc command run --inventory localhost --wait -- uptime',
      'svc command run --inventory prod --limit web --wait -- df -h /',
    ],
  },
  mcp: { none: 'A command is started by a person or a rule, never by an agent.' },
  input: z.strictObject({
    inventory: field.name.describe('Inventory to run on; localhost is this machine'),
    limit: z.string().max(1_000).optional().describe('Only these hosts of the inventory'),
    command: z
      .array(field.argument, { error: 'expected a list of words' })
      .min(1, { error: 'expected at least one word' })
      .max(COMMAND_WORDS_MAX, { error: `expected at most ${COMMAND_WORDS_MAX} words` })
      .refine((words) => words[0] !== '', { error: 'the first word must name a program' })
      .refine((words) => commandBytes(words) <= COMMAND_BYTES_MAX, {
        error: `expected at most ${COMMAND_BYTES_MAX} bytes in all`,
      }),
    timeout: field.timeout,
    summary: field.summary,
    node: field.node,
    ...REACH_FIELDS,
  }),
  answers: ['job.enqueued', 'approval.pending'],
  failures: ['not_found', 'conflict'],
  prepare({ services }, input) {
    const reach = reachIn(input);
    requireWritable(services, reach);
    return Promise.resolve(reachOf(reach));
  },
  async run(context, input, reach) {
    const timeoutMs = jobTimeoutMs(input.timeout);
    const { inventory, limit = null, command, node } = input;
    const request = { inventory, limit, command, ...reach, timeoutMs, node };
    const queued = await queueCommand(queueingOf(context, input.summary), request);
    const hosts = await targetsDetail(context.tx.db, request);
    return writtenJob(queued, { inventory, ...hosts, ...(node === undefined ? {} : { node }), ...reachDetail(reach) });
  },
});

const result = readOperation({
  id: 'job.result',
  summary: 'Show the output of a command job, host by host',
  scopes: READERS,
  http: { method: 'GET', path: '/jobs/{id}/result' },
  cli: { verb: 'job result', positionals: ['id'], examples: ['svc job result job_01m7yd4zyke00anp2z332d2j5p'] },
  mcp: { none: 'job_get and job_events answer the same.' },
  input: z.strictObject({ id: field.id('job') }),
  answers: ['command.result'],
  failures: ['not_found', 'conflict'],
  async run({ store }, { id }) {
    const job = await getJob(store.db, id);
    if (job.kind !== 'command')
      throw new Failure('conflict', `Job ${id} is of kind ${job.kind}: only a command has such a result.`);
    if (!isTerminal(job.state)) throw new Failure('conflict', `Job ${id} is ${job.state}: it has no result yet.`);
    return reply('command.result', {
      job_id: id,
      state: job.state,
      hosts: job.started_at === null ? [] : await hostResults(store.db, job),
    });
  },
});

const THIS_MACHINE = localOnly('The words of a command are shown on the machine itself, as they may hold secrets.');

const words = readOperation({
  id: 'job.command',
  summary: 'Show the command of a command or playbook job as POSIX shell words',
  scopes: OPERATORS,
  ...THIS_MACHINE,
  cli: { verb: 'job command', positionals: ['id'], examples: ['svc job command job_01m7yd4zyke00anp2z332d2j5p'] },
  input: z.strictObject({ id: field.id('job') }),
  answers: ['job.command'],
  failures: ['not_found', 'conflict'],
  async run({ store }, { id }) {
    const job = await getJob(store.db, id);
    const kind = KINDS[job.kind];
    const shown = kind.command?.(kind.readSpec(job.spec));
    if (shown === undefined)
      throw new Failure('conflict', `Job ${id} is of kind ${job.kind}; only commands and playbooks have words.`);
    const { words: command, writable = [] } = shown;
    return reply('job.command', {
      job_id: id,
      command: command.map(hideCredentials),
      ...(writable.length === 0 ? {} : { writable: [...writable] }),
    });
  },
});

/** Of the hosts of an inventory, those that have an end, by name; on this machine, what the output shows. */
async function hostResults(db: Db, job: JobRow) {
  if (commandKind.readSpec(job.spec).inventory === LOCALHOST) return [await hostResult(db, job)];
  // A command does not know whether it changed anything.
  return (await listHostResults(db, job.id)).map((each) => ({ ...each, changed: null }));
}

async function hostResult(db: Db, job: JobRow) {
  const printed = { stdout: new Printed(), stderr: new Printed() };
  let scanned = 0;
  for await (const batch of readEventBatches(db, job, 0, Number.POSITIVE_INFINITY)) {
    for (const event of batch) {
      if (event.type !== 'log' || event.stream === 'system') continue;
      scanned += printed[event.stream].add(event.text);
    }
    for (const stream of Object.values(printed)) stream.join();
    // Decoding takes the thread: others have their turn in between.
    await requestTurn();
    if (scanned < RESULT_SCAN_BYTES_MAX) continue;
    for (const stream of Object.values(printed)) stream.cut();
    break;
  }
  const status = job.state === 'succeeded' ? ('ok' as const) : ('failed' as const);
  return {
    host: LOCALHOST,
    rc: job.exit_code,
    changed: null,
    stdout: printed.stdout.text,
    stderr: printed.stderr.text,
    status,
  };
}

/** What one stream has printed, up to `STREAM_BYTES_MAX`. */
class Printed {
  #text = '';
  #lines: string[] = [];
  #bytes = 0;
  #isCut = false;

  get text(): string {
    return this.#isCut ? this.#text + CUT_MARK : this.#text;
  }

  /** Answers the bytes of the line. */
  add(text: string): number {
    const line = `${text}\n`;
    const bytes = Buffer.byteLength(line);
    this.#bytes += bytes;
    if (this.#bytes > STREAM_BYTES_MAX) this.cut();
    else this.#lines.push(line);
    return bytes;
  }

  /** Joins the lines that were added: a text for each takes ten times the memory of short ones. */
  join(): void {
    this.#text += this.#lines.join('');
    this.#lines = [];
  }

  /** Shows that there was more. */
  cut(): void {
    this.#isCut = true;
  }
}

export const COMMAND_OPERATIONS = [run, result, words];
