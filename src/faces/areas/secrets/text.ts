import type { Projected } from '../../../views/views.ts';
import type { Display } from '../../text/display.ts';
import { sheet, type Sheet, table, type Table } from '../../text/blocks.ts';
import { inline } from '../../text/safe.ts';
import { absolute, relative } from '../../text/time.ts';

function secrets(data: Projected<'secret.list'>, display: Display): Table {
  return table(data, 'No secrets. Set one with: svc secret set PROJECT/NAME < FILE', [
    { title: 'SECRET', cell: ({ project, name }) => `${project}/${name}` },
    { title: 'VERSION', cell: (each) => String(each.version) },
    { title: 'CREATED', cell: (each) => relative(each.created_at, display.nowMs), mayDrop: true },
    { title: 'UPDATED', cell: (each) => relative(each.updated_at, display.nowMs) },
  ]);
}

function secret(data: Projected<'secret.get'>, display: Display): Sheet {
  return sheet([
    ['Secret', `${data.project}/${data.name}`],
    ['Version', String(data.version)],
    ['Created', absolute(data.created_at, display.nowMs)],
    ['Updated', absolute(data.updated_at, display.nowMs)],
  ]);
}

function sealExported({ key_id: id, file }: Projected<'seal.exported'>): string {
  const where = file === null ? '' : ` to ${inline(file)}`;
  return `Exported the key file${where}; its active key is ${id}. Keep it apart from the backups.\n`;
}

const SEAL_STATES: Readonly<Record<Projected<'seal.status'>['state'], string>> = {
  ok: 'ok, this key seals every value',
  rotating: 'rotating: an older key still seals some values; finish with svc seal rotate',
  missing: 'missing: no key file. Restore it from a backup to open the sealed values, or create one with svc seal init',
  foreign: 'foreign: some values are sealed with a key that is not in the key file',
};

function seal(data: Projected<'seal.status'>, display: Display): Sheet {
  return sheet([
    ['Key', data.key_id ?? '-'],
    ['Algorithm', data.algorithm],
    ['Since', absolute(data.created_at, display.nowMs)],
    ['Sealed things', String(data.sealed_items)],
    ['State', SEAL_STATES[data.state] ?? data.state],
  ]);
}

export const SECRETS_TEXTS = {
  'secret.list': secrets,
  'secret.get': secret,
  'seal.status': seal,
  'seal.exported': sealExported,
};
