/** "This page elsewhere": the command, the route and the tool that answer the same. */
import { readableWord } from '../../domain/shell-word.ts';
import { isNone, pathFields } from '../../operations/core/http-face.ts';
import { toolsOf } from '../../operations/core/mcp-face.ts';
import { html, type Html } from '../html/html.ts';
import { operationOf } from './asker.ts';

/** `given` are the fields of the page: its parameters, and what its query filters by. */
export function placesOf(id: string, basePath: string, given: Readonly<Record<string, unknown>>): string[] {
  const { cli, http, mcp, input } = operationOf(id);
  const fields = Object.fromEntries(
    Object.entries(given).filter(([name, value]) => name in input.shape && value !== false),
  );
  return [
    ...(isNone(cli) ? [] : [commandOf(id, fields)]),
    ...(isNone(http) ? [] : [`${http.method} ${basePath}/api/v1${route(http.path, pathFields(http), fields)}`]),
    ...toolsOf(mcp).map(({ tool }) => `MCP ${tool}`),
  ];
}

export function elsewhere(places: readonly string[]): Html {
  const shown = places.map((each, at) => html`${at === 0 ? '' : ' · '}${copyable(each)}`);
  return html`<p class="elsewhere">This page elsewhere: ${shown}</p>`;
}

/** With a button that its script carries out, and without it is not shown. */
export function copyable(text: string): Html {
  return html`<code>${text}</code> <button type="button" class="copy">Copy</button>`;
}

/** As a shell takes it, with these fields. Throws for an operation without a command. */
export function commandOf(id: string, fields: Readonly<Record<string, unknown>>): string {
  const { cli } = operationOf(id);
  if (isNone(cli)) throw new Error(`${id} has no command`);
  const { verb, positionals = [] } = cli;
  const given = positionals.flatMap((name) => (name in fields ? [quoted(fields[name])] : []));
  const flags = Object.entries(fields).flatMap(([name, value]) => {
    const flag = `--${name.replaceAll('_', '-')}`;
    if (positionals.includes(name)) return [];
    return value === true ? [flag] : [`${flag} ${quoted(value)}`];
  });
  return ['svc', verb, ...given, ...flags].join(' ');
}

/** Fields of a page are words, numbers and flags. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? '');
}

function quoted(value: unknown): string {
  return readableWord(textOf(value));
}

function route(path: string, inPath: readonly string[], fields: Readonly<Record<string, unknown>>): string {
  const filled = path.replaceAll(/\{([a-z_]+)\}/g, (_all, name: string) => encodeURIComponent(textOf(fields[name])));
  const query = new URLSearchParams(
    Object.entries(fields).flatMap(([name, value]) => (inPath.includes(name) ? [] : [[name, textOf(value)]])),
  ).toString();
  return query === '' ? filled : `${filled}?${query}`;
}
