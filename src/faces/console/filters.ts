/** The filters of a list: a form with the fields, names and values of the API, which needs no script. */
import * as z from 'zod';
import { pathFields, isNone } from '../../operations/core/http-face.ts';
import { html, type Html } from '../html/html.ts';
import { operationOf } from './asker.ts';

interface Field {
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly type?: string;
  readonly maximum?: number;
}

/** Empty for a list without filters. */
export function filters(operation: string, query: URLSearchParams, label = 'Filter'): Html {
  const { input, http } = operationOf(operation);
  const inPath = isNone(http) ? [] : pathFields(http);
  const omitted = isNone(http) ? [] : (http.omit ?? []);
  const { properties = {}, required = [] } = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' });
  const shown = Object.entries(properties as Readonly<Record<string, Field>>).filter(
    ([name]) => !inPath.includes(name) && !omitted.includes(name),
  );
  if (shown.length === 0) return html``;
  const fields = shown.map(([name, field]) => control(name, field, query.get(name) ?? '', required.includes(name)));
  return html`<form class="filter" role="search">
${fields}<button>${label}</button>
</form>
`;
}

function control(name: string, field: Field, value: string, isRequired: boolean): Html {
  const hint = field.description ?? '';
  const label = name.replaceAll('_', ' ');
  if (field.enum !== undefined || field.type === 'boolean') {
    const options =
      field.enum === undefined
        ? [option('', value, 'no'), option('true', value, 'yes')]
        : [...(isRequired ? [] : [option('', value, 'any')]), ...field.enum.map((each) => option(each, value, each))];
    const select = html`<select name="${name}">${options}</select>`;
    return html`<label title="${hint}">${label}${select}</label>\n`;
  }
  const mode = field.type === 'integer' ? html` inputmode="numeric" size="5"` : html``;
  return html`<label title="${hint}">${label}<input name="${name}" value="${value}"${mode}></label>\n`;
}

function option(value: string, chosen: string, label: string): Html {
  const selected = value === chosen ? html` selected` : html``;
  return html`<option value="${value}"${selected}>${label}</option>`;
}
