import * as z from 'zod';
import { isReservedName } from '../../domain/access/reserved-name.ts';
import { BECAUSE_MAX } from '../../domain/jobs/job.ts';
import { summaryFault } from '../../domain/approvals/summary.ts';
import { Failure } from '../../domain/failure.ts';
import { NAME } from '../../domain/name.ts';
import { isId } from '../../lib/id.ts';
import { wrapped } from './parse.ts';

/** The input fields that several operations share, each with the message that its refusal shows. */

const VALUE_WORDS = z.registry<{ readonly word: string }>();
const OFF_HELP = z.registry<{ readonly help: string }>();

/**
 * A field whose flag is written `--timeout DURATION` in the help; without it the word is the name of the field. With
 * FILE the command line reads the file (`-` is standard input) and passes its text.
 */
export function as<T extends z.ZodType>(word: string, schema: T): T {
  VALUE_WORDS.add(schema, { word });
  return schema;
}

/** The word for a value of a field, see `as`. */
export function wordOf(schema: z.core.$ZodType): string | undefined {
  const inner = wrapped(schema);
  return VALUE_WORDS.get(schema as z.ZodType)?.word ?? (inner === undefined ? undefined : wordOf(inner));
}

/** An id of ours: `<prefix>_` and 26 characters. */
export function id(prefix: string): z.ZodType<string> {
  return z
    .string()
    .refine((text) => isId(prefix, text), { error: `expected an id of the form ${prefix}_ and 26 characters` });
}

export const name = z
  .string()
  .regex(NAME, { error: 'expected 1 to 63 of a-z 0-9 . _ - beginning with a letter or digit' });

/**
 * Of a token or an owner. It cannot be a name of the service: the audit ledger could not tell them apart.
 */
export const unreservedName = name.refine((text) => !isReservedName(text), {
  error: 'this name is reserved for the service; expected another one',
});

/** One of these words. */
export function oneOf<const T extends readonly string[]>(words: T) {
  return z.enum(words, { error: `expected one of ${words.join(', ')}` });
}

export function text(maxCharacters: number) {
  return z.string().max(maxCharacters, { error: `expected at most ${maxCharacters} characters` });
}

export const flag = z.boolean({ error: 'expected true or false' }).default(false);

/** RFC 3339, with any offset. */
export const time = as('TIME', z.iso.datetime({ offset: true, error: 'expected a time such as 2026-11-21T12:00:00Z' }));

/** Such as 10m; the operation reads it. */
export const duration = as('DURATION', z.string());

/** Of the run of a job. */
export const timeout = duration.optional().describe('Maximum duration of the run, such as 10m');

/** An expression of CEL; the operation checks it. */
export const expression = as('EXPRESSION', z.string());

/** True unless it is switched off, which is the flag `--no-<field>` on the command line, with the help `off`. */
export function on(description: string, off: string) {
  const schema = z.boolean({ error: 'expected true or false' }).default(true).describe(description);
  OFF_HELP.add(schema, { help: off });
  return schema;
}

/** The help of the flag that switches a field off, see `on`. */
export function offHelpOf(schema: z.core.$ZodType): string | undefined {
  return OFF_HELP.get(schema as z.ZodType)?.help;
}

/** How many rows a list answers; 0 is all of them. */
export function limit(standard: number) {
  return z
    .int({ error: 'expected a whole number, 0 for all' })
    .nonnegative({ error: 'expected 0 or more' })
    .default(standard);
}

/** Text that reaches a child process: no NUL, which ends an argument early. */
export const argument = z
  .string()
  .max(131_072)
  .refine((text) => !text.includes('\0'), { error: 'a NUL character is not allowed' });

/** Extra outbound ports, without duplicates and sorted. */
export const egressPorts = z
  .array(
    z
      .int({ error: 'expected a port from 1 to 65535' })
      .min(1, { error: 'expected 1 to 65535' })
      .max(65_535, { error: 'expected 1 to 65535' }),
  )
  .max(64, { error: 'expected at most 64 ports' })
  .default([])
  .transform((ports) => [...new Set(ports)].toSorted((a, b) => a - b));

/** What the job does, in the words of its requester. */
export const summary = z
  .string()
  .superRefine((text, context) => {
    const fault = summaryFault(text);
    if (fault !== null) context.addIssue({ code: 'custom', message: fault });
  })
  .optional()
  .describe('What the job does, in one line, for the approver');

/** Of every operation that orders a job. */
export const because = text(BECAUSE_MAX).optional().describe('Why, for the approver and for who looks back');

/** Of every operation that orders a job which its caller can wait for. */
export const followed = flag.describe('The caller follows the job: a failure notifies quietly while it does');

/** The daemon that has to run the job. */
export const node = name.optional().describe('Only the daemon of this name runs it (svc node list); default any');

export function notFound(what: string): Failure {
  return new Failure('not_found', `There is no ${what}.`);
}
