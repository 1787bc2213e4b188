import { runApprovalText } from '../gate/text.ts';
import { hostPort } from '../../../lib/host-port.ts';
import type { Projected } from '../../../views/views.ts';
import type { Display } from '../../text/display.ts';
import { inline } from '../../text/safe.ts';
import { sheet, table, type Table, type Text } from '../../text/blocks.ts';
import { absolute, relative } from '../../text/time.ts';

function inventories(data: Projected<'inventory.list'>, display: Display): Table {
  const empty = 'No inventories besides localhost. Add one with: svc inventory add NAME --file FILE';
  return table(data, empty, [
    { title: 'NAME', cell: (each) => each.name },
    { title: 'HOSTS', cell: (each) => String(each.hosts) },
    { title: 'GROUPS', cell: (each) => String(each.groups), mayDrop: true },
    { title: 'SSH KEY', cell: (each) => each.ssh_key ?? '-', mayCut: true },
    { title: 'UPDATED', cell: (each) => relative(each.updated_at, display.nowMs) },
  ]);
}

function inventory(data: Projected<'inventory.get'>, display: Display): Text {
  const head = sheet([
    ['Inventory', data.name],
    ['Hosts', String(data.hosts)],
    ['Groups', String(data.groups)],
    ['SSH key', data.ssh_key],
    ['Runs that wait', runApprovalText(data)],
    ['Updated', absolute(data.updated_at, display.nowMs)],
  ]);
  const hosts = table(data.members, 'No hosts.', [
    { title: 'HOST', cell: (each) => each.host },
    {
      title: 'ADDRESS',
      cell: (each) => (each.connection === 'local' ? 'this machine' : hostPort(each.address, each.port)),
      mayCut: true,
    },
    { title: 'USER', cell: (each) => each.user ?? '-', mayDrop: true },
    { title: 'GROUPS', cell: (each) => each.groups.join(', ') || '-', mayCut: true },
    { title: 'HOST KEYS', cell: keysOf, mayCut: true },
  ]);
  return [head, '\n', hosts];
}

type Member = Projected<'inventory.get'>['members'][number];

function keysOf({ connection, host_keys: keys }: Member): string {
  if (connection === 'local') return '-';
  return keys.map(({ fingerprint }) => fingerprint).join(', ') || 'none';
}

/** Each host with the keys that it offers; a key that differs from the accepted ones is marked. */
function hostKeys(data: Projected<'inventory.host_keys'>): string {
  return data.map(hostLines).join('');
}

function hostLines({ host, address, port, keys, accepted, fault }: Projected<'inventory.host_keys'>[number]): string {
  const lines = [inline(`${host} (${hostPort(address, port)})`)];
  if (fault !== null) lines.push(inline(`  ${fault}`));
  for (const key of keys) lines.push(inline(`  ${key.type} ${key.fingerprint}${key.accepted ? '  accepted' : ''}`));
  const gone = accepted.filter((each) => keys.every(({ fingerprint }) => fingerprint !== each.fingerprint));
  if (keys.some((key) => !key.accepted) && gone.length > 0)
    lines.push(inline(`  CHANGED: accepted before was ${gone.map(({ fingerprint }) => fingerprint).join(', ')}`));
  return `${lines.join('\n')}\n`;
}

export const INVENTORIES_TEXTS = {
  'inventory.list': inventories,
  'inventory.get': inventory,
  'inventory.host_keys': hostKeys,
};
