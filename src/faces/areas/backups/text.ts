import { formatSize } from '../../../domain/size.ts';
import type { Projected } from '../../../views/views.ts';
import { absolute, relative } from '../../text/time.ts';
import type { Display } from '../../text/display.ts';
import { sheet, type Sheet, table, type Table } from '../../text/blocks.ts';

function backups(data: Projected<'backup.list'>, display: Display): Table {
  return table(data, 'No backups. Make one with: svc backup create --wait', [
    { title: 'ID', cell: ({ id }) => id },
    { title: 'CREATED', cell: (each) => relative(each.created_at, display.nowMs) },
    { title: 'SIZE', cell: (each) => formatSize(each.size_bytes) },
    { title: 'VERIFIED', cell: (each) => verified(each, (at) => relative(at, display.nowMs)) },
  ]);
}

function backup(data: Projected<'backup.get'>, display: Display): Sheet {
  return sheet([
    ['Backup', data.id],
    ['Job', data.job_id],
    ['Created', absolute(data.created_at, display.nowMs)],
    ['Size', formatSize(data.size_bytes)],
    ['SHA-256', data.sha256],
    ['Verified', verified(data, (at) => absolute(at, display.nowMs))],
  ]);
}

function verified({ verified_at: at }: Projected<'backup.get'>, shown: (at: string) => string): string {
  return at === null ? 'no: it could not be read' : shown(at);
}

export const BACKUPS_TEXTS = { 'backup.list': backups, 'backup.get': backup };
