import { type Failure, failureRow } from '../../domain/failure.ts';

export const SCHEMA_VERSION = 1;

/** The one serializer: compact JSON in declaration order, no HTML escaping, then one newline. */
export function encode(kind: string, data: unknown): string {
  return `${opening(kind)}${JSON.stringify(data)}${CLOSING}`;
}

/** The same bytes, for data that is JSON already. */
export function encodeRaw(kind: string, json: Buffer): Buffer {
  return Buffer.concat([Buffer.from(opening(kind)), json, Buffer.from(CLOSING)]);
}

const CLOSING = '}\n';

function opening(kind: string): string {
  return `{"schema_version":${SCHEMA_VERSION},"kind":${JSON.stringify(kind)},"data":`;
}

/** The same bytes, for a list that is sent while it is read. */
export async function* encodeBatches(kind: string, batches: AsyncIterable<readonly unknown[]>): AsyncGenerator<string> {
  let separator = `${opening(kind)}[`;
  for await (const batch of batches) {
    if (batch.length === 0) continue;
    yield separator + batch.map((item) => JSON.stringify(item)).join(',');
    separator = ',';
  }
  yield separator === ',' ? ']}\n' : `${separator}]}\n`;
}

export function encodeFailure(failure: Failure): string {
  const error = { code: failure.code, message: failure.message, hint: failureRow(failure.code).hint, ...failure.extra };
  return `{"schema_version":${SCHEMA_VERSION},"kind":"error","error":${JSON.stringify(error)}}\n`;
}
