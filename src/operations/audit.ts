import { z } from 'zod';
import type { DoctorEntry } from '../doctor/entry.ts';
import { Failure } from '../domain/failure.ts';
import { READERS } from '../domain/scope.ts';
import { compareHeads, type KeptHead, ledgerHeads } from '../store/ledger-verify.ts';
import type { Db } from '../store/schema.ts';
import * as field from './fields.ts';
import { readOperation } from './operation.ts';
import { reply } from './reply.ts';

const head = readOperation({
  id: 'audit.head',
  summary: 'Show the last row of each chain of the audit ledger',
  effect: 'read',
  scopes: READERS,
  http: { none: 'Heads are kept by whoever runs the machine, outside of it.' },
  cli: { verb: 'audit head', examples: ['svc audit head', 'svc audit head > heads.txt'] },
  mcp: { none: 'Heads are kept by whoever runs the machine, outside of it.' },
  input: field.NO_INPUT,
  answers: ['audit.head'],
  failures: [],
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
      throw new Failure('invalid_argument', `ledger_head: line ${index + 1} is not a chain, a row number and a hash, as "svc audit head" prints them.`);
    }
    return [{ chain, seq: Number(seq), hash }];
  });
  if (heads.length === 0) throw new Failure('invalid_argument', 'ledger_head: the file holds no line of "svc audit head".');
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
export async function withHeads(db: Db, report: readonly DoctorEntry[], heads: readonly KeptHead[]): Promise<DoctorEntry[]> {
  const faults = await compareHeads(db, heads);
  return report.map((entry) => {
    if (entry.name !== 'audit_ledger') return entry;
    if (faults.length === 0) return { ...entry, detail: `${entry.detail} ${heads.length} kept ${heads.length === 1 ? 'head' : 'heads'} found.` };
    const named = faults.slice(0, NAMED_MAX).join('; ') + (faults.length > NAMED_MAX ? `; ${faults.length - NAMED_MAX} more` : '');
    return { ...entry, status: 'fail' as const, detail: entry.status === 'fail' ? `${named}; ${entry.detail}` : `${named}.` };
  });
}

/** Heads that are named in a report; the first say enough. */
const NAMED_MAX = 5;

export const AUDIT_OPERATIONS = [head];
