/** The reporter inside the process of a lane: hands what happens to the runner, which is the parent process. */
import { inspect } from 'node:util';
import type { TestEvent } from 'node:test/reporters';

/** What the runner learns of a test; `end` follows the last one. */
export interface Happened {
  readonly type: 'dequeue' | 'pass' | 'fail' | 'end';
  /** Of this process. */
  readonly id: number;
  readonly parent: number;
  readonly name: string;
  /** An absolute path, or a URL. */
  readonly file: string;
  readonly line: number;
  readonly nesting: number;
  readonly isSuite: boolean;
  readonly ms: number;
  /** The reason why it was left out. */
  readonly skipped?: string;
  readonly error?: string;
  /** Failed only because a test within it did. */
  readonly isByChild?: true;
}

/** Node writes what a reporter yields to standard output; this one sends it. */
export default async function* report(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const event of source) {
    const happened = read(event);
    if (happened !== null) process.send?.(happened);
    yield '';
  }
  process.send?.({ ...place({ name: '', nesting: 0 }), type: 'end', isSuite: false, ms: 0 } satisfies Happened);
}

function read(event: TestEvent): Happened | null {
  if (event.type === 'test:dequeue') {
    return { ...place(event.data), type: 'dequeue', isSuite: false, ms: 0 };
  }
  if (event.type === 'test:pass') {
    const { details, skip } = event.data;
    const skipped = skip === undefined || skip === false ? {} : { skipped: String(skip) };
    return {
      ...place(event.data),
      type: 'pass',
      isSuite: details.type === 'suite',
      ms: details.duration_ms,
      ...skipped,
    };
  }
  if (event.type !== 'test:fail') return null;
  const { details } = event.data;
  const { cause, failureType } = details.error as Error & { failureType?: string };
  return {
    ...place(event.data),
    type: 'fail',
    isSuite: details.type === 'suite',
    ms: details.duration_ms,
    error: inspect(cause ?? details.error, { depth: 8 }),
    ...(failureType === 'subtestsFailed' ? { isByChild: true } : {}),
  };
}

type Place = Pick<Happened, 'id' | 'parent' | 'name' | 'file' | 'line' | 'nesting'>;

function place(data: { name: string; nesting: number; file?: string; line?: number }): Place {
  const { testId = 0, parentId = 0 } = data as { testId?: number; parentId?: number };
  return {
    id: testId,
    parent: parentId,
    name: data.name,
    file: data.file ?? '',
    line: data.line ?? 0,
    nesting: data.nesting,
  };
}
