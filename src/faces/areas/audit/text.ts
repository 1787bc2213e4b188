import type { Projected } from '../../../views/views.ts';
import type { Display } from '../../text/display.ts';
import { inline } from '../../text/safe.ts';
import { table, type Table } from '../../text/blocks.ts';
import { absolute } from '../../text/time.ts';

type Row = Projected<'audit.list'>[number];

const NARROW = 100;

/** The ledger as a table, the newest row first. */
function auditList(rows: Projected<'audit.list'>, display: Display): Table {
  return table(rows, 'None.', [
    { title: 'AT', cell: (row: Row) => timeOf(row, display) },
    { title: 'WHO', cell: (row: Row) => row.principal, mayCut: true },
    { title: 'OPERATION', cell: (row: Row) => row.operation },
    { title: 'TARGET', cell: (row: Row) => row.target ?? '-' },
    {
      title: 'DETAIL',
      cell: (row: Row) =>
        Object.entries(row.detail)
          .map(([name, value]) => `${name}=${String(value)}`)
          .join(' '),
      mayCut: true,
      mayDrop: true,
    },
  ]);
}

/** Of a narrow terminal only the seconds, so that the id of the target has room. */
function timeOf({ at }: Row, { nowMs, width }: Display): string {
  return width === null || width > NARROW ? absolute(at, nowMs) : at.replace(/\.\d+Z$/, 'Z');
}

/** One line for each chain, whole and without a title, so that a file of them can be compared later. */
function auditHead(heads: Projected<'audit.head'>): string {
  return heads.map(({ chain, seq, hash }) => `${inline(chain)} ${seq} ${inline(hash)}\n`).join('');
}

export const AUDIT_TEXTS = { 'audit.list': auditList, 'audit.head': auditHead };
