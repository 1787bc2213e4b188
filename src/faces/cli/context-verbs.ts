import { resolve } from 'node:path';
import type { ProgramSession } from './connection/session.ts';
import { table } from '../text/blocks.ts';
import { line } from '../text/safe.ts';
import { print } from './print.ts';
import { baseUrl, readTokenAt } from './context/options.ts';
import { UsageFailure } from './syntax/usage.ts';
import { sizeOf } from './terminal.ts';
import { terminalText } from './terminal-text.ts';
import { addContext, removeContext, useContext } from './context/change-contexts.ts';
import { placeVariable } from './context/chosen-context.ts';
import {
  type Context,
  currentName,
  listContexts,
  LOCAL,
  readContext,
  requireName,
  type TokenPlace,
} from './context/contexts.ts';

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

export async function contextAdd(session: ProgramSession): Promise<number> {
  const { fields, terminal } = session;
  const name = String(fields['name']);
  requireName(name);
  const context: Context = { name, url: baseUrl(String(fields['url']), '--url'), token: tokenPlace(session) };
  // A wrong path is noticed now, and not with the first call. A variable may be set later.
  if ('file' in context.token) await readTokenAt(context.token, terminal, '--token-file');
  await addContext(terminal.env, context);
  const text = `Added the context ${name}. Use it: svc job list --context ${name}, or always: svc context use ${name}`;
  return print(session, 'context.get', view(context, false), () => line(text));
}

function tokenPlace({ flags, fields }: ProgramSession): TokenPlace {
  const file = flags['token-file'];
  const variable = fields['token_variable'];
  const help = 'svc context add --help';
  if ((file === undefined) === (variable === undefined))
    throw new UsageFailure('--token-file, --token-variable: expected one of them.', help);
  if (file !== undefined) {
    if (file === '-' || file === '') throw new UsageFailure('--token-file: expected the path of a file.', help);
    return { file: resolve(file) };
  }
  if (!VARIABLE.test(String(variable)))
    throw new UsageFailure('--token-variable: expected the name of an environment variable.', help);
  return { variable: String(variable) };
}

export async function contextUse(session: ProgramSession): Promise<number> {
  const { env } = session.terminal;
  const name = String(session.fields['name']);
  const context = name === LOCAL ? null : await readContext(env, name);
  await useContext(env, name);
  if (context === null) return print(session, 'context.get', THIS_MACHINE, () => 'Using this machine.\n');
  return print(session, 'context.get', view(context, true), () => {
    const winner = placeVariable(env);
    const hidden = winner === undefined ? '' : line(`${winner} is set and wins: unset it to use the context.`);
    return line(`Using ${name}: ${context.url}`) + hidden;
  });
}

const THIS_MACHINE: View = { name: LOCAL, url: null, token_file: null, token_variable: null, current: true };

export async function contextRemove(session: ProgramSession): Promise<number> {
  const { env } = session.terminal;
  const name = String(session.fields['name']);
  requireName(name);
  await removeContext(env, name);
  return print(session, 'context.removed', { name }, () => `Removed the context ${name}.\n`);
}

export async function contextList(session: ProgramSession): Promise<number> {
  const { env } = session.terminal;
  const current = await currentName(env);
  const views = (await listContexts(env)).map((context) => view(context, context.name === current));
  return print(session, 'context.list', views, () => {
    const rows = table(views, 'No contexts. Add one with: svc context add NAME --url URL --token-file FILE', [
      { title: '', cell: (each) => (each.current ? '*' : '') },
      { title: 'NAME', cell: (each) => each.name },
      { title: 'URL', cell: (each) => each.url ?? '', mayCut: true },
      {
        title: 'TOKEN',
        cell: (each) => each.token_file ?? `variable ${each.token_variable ?? ''}`,
        mayCut: true,
        mayDrop: true,
      },
    ]);
    return terminalText(rows, { nowMs: 0, color: false, width: sizeOf(session.terminal.stdout).width });
  });
}

interface View {
  readonly name: string;
  readonly url: string | null;
  readonly token_file: string | null;
  readonly token_variable: string | null;
  readonly current: boolean;
}

function view({ name, url, token }: Context, current: boolean): View {
  return {
    name,
    url,
    token_file: 'file' in token ? token.file : null,
    token_variable: 'variable' in token ? token.variable : null,
    current,
  };
}
