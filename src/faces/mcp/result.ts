/** What a tool answers: the envelope as text, and the same as structured content. */
import { Failure } from '../../domain/failure.ts';
import { encodeFailure, SCHEMA_VERSION } from '../../operations/core/envelope.ts';
import type { Answer } from '../../operations/core/invoke.ts';

/**
 * Bytes of an envelope that a tool answers. A model cannot use more, and an answer is held in memory three times: as
 * text, as data and as the body of the response.
 */
const ANSWER_BYTES_MAX = 1_048_576;

type Structured = Record<string, unknown>;

export interface ToolResult {
  content: { type: 'text'; text: string }[];
  structuredContent?: Structured;
  isError?: true;
  _meta: Structured;
  [key: string]: unknown;
}

/** Says that names, labels and output in the answer were written by others. */
const MARK = { 'gatehouse/untrusted': true };

/** Throws invalid_argument for an answer above the bound, of which no more than that is read. */
export async function resultOf(answer: Answer): Promise<ToolResult> {
  switch (answer.shape) {
    case 'none':
      return { content: [], _meta: MARK };
    case 'body': {
      const text = bounded(typeof answer.body === 'string' ? answer.body : answer.body.toString('utf8'));
      if (answer.data === undefined) return envelope(text, JSON.parse(text) as Structured);
      return envelope(text, { schema_version: SCHEMA_VERSION, kind: answer.kind, data: answer.data });
    }
    case 'batches': {
      let text = '';
      for await (const part of answer.body) text = bounded(text + part);
      return envelope(text, JSON.parse(text) as Structured);
    }
    case 'stream':
    case 'text':
      throw new Error(`A tool cannot answer a ${answer.shape}.`);
  }
}

export function failureResult(failure: Failure): ToolResult {
  const text = encodeFailure(failure);
  return { ...envelope(text, JSON.parse(text) as Structured), isError: true };
}

function envelope(text: string, structuredContent: Structured): ToolResult {
  return { content: [{ type: 'text', text }], structuredContent, _meta: MARK };
}

function bounded(text: string): string {
  // A character has one byte at least, so most texts need not be counted.
  if (
    text.length > ANSWER_BYTES_MAX ||
    (text.length * 3 > ANSWER_BYTES_MAX && Buffer.byteLength(text) > ANSWER_BYTES_MAX)
  )
    throw new Failure(
      'invalid_argument',
      `The answer is longer than ${ANSWER_BYTES_MAX} bytes, the most that a tool answers. Ask for fewer rows.`,
    );
  return text;
}
