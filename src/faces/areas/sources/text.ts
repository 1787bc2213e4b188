import type { Projected } from '../../../views/views.ts';
import type { Display } from '../../text/display.ts';
import { runApprovalText } from '../gate/text.ts';
import { inline } from '../../text/safe.ts';
import { sheet, type Sheet, table, type Table } from '../../text/blocks.ts';
import { absolute, relative } from '../../text/time.ts';

/** The length of git's own short commit id. */
const COMMIT_LETTERS = 12;

function sources(data: Projected<'source.list'>, display: Display): Table {
  return table(data, 'No sources. Add one with: svc source add NAME --git URL', [
    { title: 'NAME', cell: (each) => each.name },
    { title: 'KIND', cell: (each) => each.kind },
    { title: 'REF', cell: (each) => each.ref ?? '-', mayCut: true },
    { title: 'COMMIT', cell: (each) => each.commit?.slice(0, COMMIT_LETTERS) ?? '-' },
    { title: 'SYNCED', cell: (each) => relative(each.synced_at, display.nowMs) },
  ]);
}

function source(data: Projected<'source.get'>, display: Display): Sheet {
  return sheet([
    ['Source', data.name],
    ['Kind', data.kind === 'git' ? 'git repository' : 'directory on this machine'],
    ['Ref', data.kind === 'git' ? (data.ref ?? 'the default branch') : null],
    ['Commit', data.kind === 'git' ? (data.commit ?? '-') : null],
    ['Synced', absolute(data.synced_at, display.nowMs)],
    ['Runs that wait', runApprovalText(data)],
  ]);
}

function hooks(data: Projected<'hooks.show'>): string {
  const { source: name, file, hooks: steps } = data;
  if (file === null) return `Source ${inline(name)} declares no lifecycle hooks.\n`;
  const head = inline(`Source ${name} declares lifecycle hooks in ${file}. They never run.`);
  return [head, ...steps.map((step) => `  ${inline(step)}`), ''].join('\n');
}

export const SOURCES_TEXTS = { 'source.list': sources, 'source.get': source, 'hooks.show': hooks };
