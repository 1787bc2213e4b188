import type { Projected } from '../../../views/views.ts';
import { inline } from '../../text/safe.ts';
import { sheet, type Sheet, table, type Table } from '../../text/blocks.ts';

function netgroups(data: Projected<'netgroup.list'>): Table {
  const empty = 'No netgroups; every address is away. Add one with: svc netgroup add NAME --prefixes LIST';
  return table(data, empty, [
    { title: 'NAME', cell: (each) => each.name },
    { title: 'PREFIXES', cell: (each) => each.prefixes.join(', '), mayCut: true },
    { title: 'EXCLUDES', cell: (each) => each.excludes.join(', ') || '-', mayCut: true },
  ]);
}

function netgroup(data: Projected<'netgroup.get'>): Sheet {
  return sheet([
    ['Netgroup', data.name],
    ['Id', data.id],
    ['Prefixes', data.prefixes.join(', ')],
    ['Excludes', data.excludes.join(', ') || 'none'],
  ]);
}

function classified({ address, netgroup: name, match }: Projected<'netgroup.classify'>): string {
  if (match === null) return inline(`${address} is ${name}: no netgroup covers it.`) + '\n';
  const reason = match.excluded ? `is ${name}: ${match.netgroup} excludes` : `is in ${name}, by`;
  return `${inline(`${address} ${reason} ${match.prefix}.`)}\n`;
}

export const NETGROUPS_TEXTS = {
  'netgroup.list': netgroups,
  'netgroup.get': netgroup,
  'netgroup.classify': classified,
};
