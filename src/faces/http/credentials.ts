import type { IncomingMessage } from 'node:http';
import type { Credentials } from '../../operations/access/authenticate.ts';

/** Every value of a header. Node's `headers` object keeps only the first of some headers and joins others. */
export function headerValues(request: IncomingMessage, lowerCaseName: string): string[] {
  const { rawHeaders } = request;
  const values: string[] = [];
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? '';
    if (name.length === lowerCaseName.length && name.toLowerCase() === lowerCaseName)
      values.push(rawHeaders[i + 1] ?? '');
  }
  return values;
}

/** From headers only: a token in a URL would be written to logs and histories, so the query is never used. */
export function credentialsOf(request: IncomingMessage): Credentials {
  return { authorization: headerValues(request, 'authorization'), cookie: request.headers.cookie };
}

/** The text after the question mark, still encoded. */
export function queryOf(request: IncomingMessage): string {
  const url = request.url ?? '';
  const at = url.indexOf('?');
  return at < 0 ? '' : url.slice(at + 1);
}
