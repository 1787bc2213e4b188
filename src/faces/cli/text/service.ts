import type { Projected } from '../../../operations/views/views.ts';
import type { Page, Paint } from '../display/display.ts';
import { sheet, table } from '../display/table.ts';
import { absolute, relative } from '../../text/time.ts';

const STATUS_PAINT: Readonly<Record<Projected<'doctor'>[number]['status'], Paint>> = {
  ok: 'green',
  warn: 'yellow',
  fail: 'red',
  unknown: 'dim',
};

export function whoami(data: Projected<'whoami'>, page: Page): string {
  const { server } = data;
  return sheet(page, [
    ['Name', data.name],
    ['Id', data.id],
    ['Scope', data.scope],
    ['Via', data.via],
    ['Expires', data.expires_at === null ? 'never' : absolute(data.expires_at, page.nowMs)],
    ['Server', [server.hostname, server.version].filter((part) => part !== undefined).join(' ') || '-'],
    ...(server.started_at === undefined ? [] : [['Started', absolute(server.started_at, page.nowMs)] as const]),
  ]);
}

export function doctor(data: Projected<'doctor'>, page: Page): string {
  return table(
    page,
    data,
    [
      { title: 'STATUS', cell: (entry) => entry.status, paint: (entry) => STATUS_PAINT[entry.status] },
      { title: 'CHECK', cell: (entry) => entry.name },
      { title: 'DETAIL', cell: (entry) => entry.detail },
    ],
    'Nothing was checked.',
  );
}

export function tokens(data: Projected<'token.list'>, page: Page): string {
  return table(
    page,
    data,
    [
      { title: 'NAME', cell: (token) => token.name },
      { title: 'SCOPE', cell: (token) => token.scope },
      { title: 'OWNER', cell: (token) => token.owner },
      { title: 'CREATED', cell: (token) => relative(token.created_at, page.nowMs) },
      {
        title: 'ENDS',
        cell: (token) => end(token, page),
        paint: (token) => (token.revoked_at === null ? undefined : 'dim'),
      },
      { title: 'ID', cell: (token) => token.id },
    ],
    'No tokens. Make one with: svc token create --name NAME --scope operator',
  );
}

export function token(data: Projected<'token.get'>, page: Page): string {
  return sheet(page, [
    ['Token', data.name],
    ['Id', data.id],
    ['Scope', data.scope],
    ['Owner', data.owner],
    ['Created', absolute(data.created_at, page.nowMs)],
    ['Expires', data.expires_at === null ? 'never' : absolute(data.expires_at, page.nowMs)],
    ['Revoked', absolute(data.revoked_at, page.nowMs)],
  ]);
}

function end(token: Projected<'token.list'>[number], page: Page): string {
  if (token.revoked_at !== null) return `revoked ${relative(token.revoked_at, page.nowMs)}`;
  return token.expires_at === null ? 'never' : relative(token.expires_at, page.nowMs);
}

/** The words beside the token, which stands alone on standard output: see SECRETS in render.ts. */
export function tokenCreated(data: Projected<'token.created'>, page: Page): string {
  const until = data.expires_at === null ? 'until it is revoked' : `until ${absolute(data.expires_at, page.nowMs)}`;
  return `Token ${data.name}, scope ${data.scope}, good ${until}. It is shown this once:\n`;
}
