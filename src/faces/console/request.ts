/** What a page is given: the visitor, the query, and the way to ask operations as that visitor. */
import type { Caller } from '../../domain/access/caller.ts';
import { randomName } from '../../lib/random.ts';
import type { Runtime } from '../../operations/core/invoke.ts';
import { takesKey } from '../../operations/core/operation.ts';
import { html, type Html } from '../html/html.ts';
import type { Text } from '../text/blocks.ts';
import type { Display } from '../text/display.ts';
import { blocksHtml } from './blocks.ts';
import type { Button, Page, PageRequest } from './page.ts';
import { ask, mayCall, operationOf, queryFields } from './asker.ts';

interface RequestParts {
  readonly runtime: Runtime;
  readonly caller: Caller;
  readonly csrf: string | null;
  readonly basePath: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** What was asked for this answer already: the frame and the page may need the same. */
  readonly asked: Map<string, Promise<unknown>>;
  /** An answer of this kind as the command line shows it. It is handed in, because each area has texts. */
  readonly textOf: (kind: string, data: unknown, display: Display) => Text;
}

export function pageRequest(page: Pick<Page, 'path' | 'reads'>, parts: RequestParts): PageRequest {
  const { runtime, caller, csrf, basePath, params, query, asked, textOf } = parts;
  const display = { nowMs: runtime.services.clock.now(), color: false, width: null };
  const url = (path: string): string => basePath + path;
  return {
    params,
    query,
    visitor: { name: caller.name, owner: caller.owner, scope: caller.scope, csrf },
    display,
    timeZone: runtime.services.server.timeZone,
    url,
    ask(operation, kind, input = {}) {
      if (!page.reads.includes(operation)) throw new Error(`The row of ${page.path} does not list ${operation}`);
      const key = JSON.stringify([operation, kind, input]);
      const known = asked.get(key) as ReturnType<typeof ask<typeof kind>> | undefined;
      const answer = known ?? ask(parts, operation, kind, input);
      asked.set(key, answer);
      return answer;
    },
    view: (kind, data, links = {}) => blocksHtml(textOf(kind, data, display), { ...links, url }),
    fields: (operation) => queryFields(operation, query),
    may: (operation) => mayCall(caller, operation),
    form: (button) => (csrf === null || !mayCall(caller, button.operation) ? html`` : form(button, url, csrf)),
  };
}

/** A repeated submission has the same key, and so the same answer. */
function form(button: Button, url: PageRequest['url'], csrf: string): Html {
  const { path, operation, fields = html``, others = [] } = button;
  const key = takesKey(operationOf(operation))
    ? html`<input type="hidden" name="key" value="${randomName()}">`
    : html``;
  return html`<form method="post" action="${url(path)}"><input type="hidden" name="csrf" value="${csrf}">${key}\
${fields}${[button, ...others].map(buttonHtml)}</form>\n`;
}

function buttonHtml({ label, look, sends }: Pick<Button, 'label' | 'look' | 'sends'>): Html {
  const dress = look === undefined ? html`` : html` class="${look}"`;
  const value = sends === undefined ? html`` : html` name="${sends[0]}" value="${sends[1]}"`;
  return html`<button${dress}${value}>${label}</button>`;
}
