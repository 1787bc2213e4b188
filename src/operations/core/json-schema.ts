import * as z from 'zod';
import type { Operation } from './operation.ts';

/** A part of a document: JSON that is only written out. */
export interface Node {
  readonly [key: string]: unknown;
}

/** The input of an operation as JSON Schema: one schema per field, and the fields that are required. */
interface InputNode {
  readonly properties: Readonly<Record<string, Node>>;
  readonly required: readonly string[];
}

export const IDEMPOTENCY_KEY: Node = {
  type: 'string',
  minLength: 1,
  maxLength: 255,
  description: 'A repeat with the same key is answered as the first was.',
};

export function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): Node {
  const { $schema: _, ...node } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return node;
}

export function inputNode(operation: Operation): InputNode {
  const { properties = {}, required = [] } = jsonSchema(operation.input, 'input') as {
    properties?: Record<string, Node>;
    required?: string[];
  };
  return { properties, required };
}
