import * as z from 'zod';
import { type DoctorEntry, named } from '../../doctor/entry.ts';
import { Failure } from '../../domain/failure.ts';
import { PLAN_READERS, READERS } from '../../domain/access/scope.ts';
import { rfc3339 } from '../../lib/clock.ts';
import { type LedgerFilter, listLedger } from '../../store/audit/list.ts';
import { compareHeads, type KeptHead, ledgerHeads } from '../../store/audit/verify.ts';
import type { Db } from '../../store/schema/schema.ts';
import type { Audited } from '../area.ts';
import { shownDetail } from './audit-detail.ts';
import { replyList } from '../core/batches.ts';
import * as field from '../core/fields.ts';
import { type Operation, readOperation } from '../core/operation.ts';
import { reply } from '../core/reply.ts';
import type { ViewItem } from '../../views/views.ts';

function filterOf({
  since,
  ...names
}: Omit<LedgerFilter, 'since'> & { readonly since?: string | undefined }): LedgerFilter {
  return { ...names, since: since === undefined ? undefined : Date.parse(since) };
}

const FILTERS = {
  operation: z.string().max(64).optional().describe('Only this operation, such as token.create'),
  principal: z.string().max(200).optional().describe('Only actions of this principal'),
  target: z.string().max(400).optional().describe('Only actions on this id or name'),
  since: field.time.optional().describe('Only rows from this time on, in RFC 3339'),
};

const head = readOperation({
  id: 'audit.head',
  summary: 'Show the last row of each chain of the audit ledger',
  scopes: READERS,
  http: { none: 'Only the operator of the machine reads the heads, to store them elsewhere.' },
  cli: { verb: 'audit head', examples: ['svc audit head', 'svc audit head > heads.txt'] },
  mcp: { none: 'Only the operator of the machine reads the heads, to store them elsewhere.' },
  answers: ['audit.head'],
  run: async ({ store }) => reply('audit.head', await ledgerHeads(store.db)),
});

/** Some 10,000 chains. A shared database has one for each process that wrote. */
export const HEADS_CHARS_MAX = 1_048_576;

/** A line of `svc audit head`: chain, number of the row, its hash. */
const LINE = /^(\S{1,64}) (\d{1,15}) ([0-9a-f]{64})$/;

/** Reads what `svc audit head` printed, as text or JSON. Throws invalid_argument that names the line. */
export function readHeads(text: string): KeptHead[] {
  const lines = text.trimStart().startsWith('{') ? jsonLines(text) : text.split('\n');
  const heads = lines.flatMap((line, index): KeptHead[] => {
    if (line.trim() === '') return [];
    const [, chain, seq, hash] = LINE.exec(line.trim()) ?? [];
    if (chain === undefined || hash === undefined) {
      throw new Failure(
        'invalid_argument',
        `ledger_head: line ${index + 1} is not a chain, a row number and a hash, as "svc audit head" prints them.`,
      );
    }
    return [{ chain, seq: Number(seq), hash }];
  });
  if (heads.length === 0)
    throw new Failure('invalid_argument', 'ledger_head: the file holds no line of "svc audit head".');
  return heads;
}

const ENVELOPE = z.object({ data: z.array(z.object({ chain: z.string(), seq: z.int(), hash: z.string() })) });

function jsonLines(text: string): string[] {
  try {
    return ENVELOPE.parse(JSON.parse(text)).data.map(({ chain, seq, hash }) => `${chain} ${seq} ${hash}`);
  } catch {
    throw new Failure('invalid_argument', 'ledger_head: the file is not an answer of "svc audit head --output json".');
  }
}

/** The report, with the entry of the ledger failing where a head that was kept is not there any more. */
export async function withHeads(
  db: Db,
  report: readonly DoctorEntry[],
  heads: readonly KeptHead[],
): Promise<DoctorEntry[]> {
  const faults = await compareHeads(db, heads);
  return report.map((entry) => {
    if (entry.name !== 'audit_ledger') return entry;
    if (faults.length === 0)
      return {
        ...entry,
        detail: `${entry.detail} ${heads.length} kept ${heads.length === 1 ? 'head' : 'heads'} found.`,
      };
    const detail = entry.status === 'fail' ? `${named(faults)}; ${entry.detail}` : `${named(faults)}.`;
    return { ...entry, status: 'fail' as const, detail };
  });
}

/** `audited` says what is shown of each record. */
export function auditOperations(audited: Audited): readonly Operation[] {
  async function* rowViews(db: Db, filter: LedgerFilter, limit: number): AsyncGenerator<ViewItem<'audit.list'>[]> {
    for await (const rows of listLedger(db, filter, limit))
      yield rows.map((row) => ({
        ...row,
        at: rfc3339(row.at),
        detail: shownDetail(audited, row.operation, row.detail),
      }));
  }

  const list = readOperation({
    id: 'audit.list',
    summary: 'List rows of the audit ledger, newest first',
    scopes: PLAN_READERS,
    http: { method: 'GET', path: '/audit' },
    cli: {
      verb: 'audit list',
      item: 'row of the audit ledger',
      examples: ['svc audit list', 'svc audit list --operation token.create --limit 0'],
    },
    mcp: { none: 'The ledger is for people.' },
    input: z.strictObject({ ...FILTERS, limit: field.limit(50).describe('Maximum number of rows; 0 is all') }),
    answers: ['audit.list'],
    async run({ store }, { limit, ...filter }) {
      const rows = rowViews(store.db, filterOf(filter), limit === 0 ? Number.POSITIVE_INFINITY : limit);
      return replyList('audit.list', rows);
    },
  });

  const exported = readOperation({
    id: 'audit.export',
    summary: 'Print all matching rows of the audit ledger, newest first',
    scopes: PLAN_READERS,
    http: { none: 'The list answers the same with limit 0.' },
    cli: {
      verb: 'audit export',
      examples: [
        'svc audit export --output json > audit.json',
        'svc audit export --since 2026-11-01T00:00:00Z --output json',
      ],
    },
    mcp: { none: 'The ledger is for people.' },
    input: z.strictObject(FILTERS),
    answers: ['audit.list'],
    run: ({ store }, input) => replyList('audit.list', rowViews(store.db, filterOf(input), Number.POSITIVE_INFINITY)),
  });

  return [list, exported, head];
}
