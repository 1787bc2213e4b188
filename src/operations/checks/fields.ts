import * as z from 'zod';
import { HTTP_METHODS, METRIC_OPS } from '../../domain/checks/check.ts';
import { CHECK_LIMITS, type Target, TargetReader } from '../../domain/checks/target.ts';
import type { CheckKind } from '../../domain/checks/check.ts';
import { requireDuration } from '../../domain/duration.ts';
import { canonicalAddress } from '../../lib/ip/address.ts';
import type { Clock } from '../../lib/clock.ts';
import { YieldTimer } from '../../lib/flow/cooperative.ts';
import * as field from '../core/fields.ts';

const { minDays, expectBodyBytes, pointerCharacters } = CHECK_LIMITS;
const DAYS = `expected a number of days from 0 to ${minDays}`;
const STATUS = 'expected a status from 100 to 599, or 0 for any of 2xx and 3xx';
/** RFC 6901: nothing, or parts that begin with a slash; a tilde is written ~0 and a slash ~1. */
const POINTER = /^(?:\/(?:[^~/]|~[01])*)*$/;

export const targets = field.as(
  'NAME=TARGET',
  z
    .array(z.string({ error: 'expected a text of the form NAME=TARGET' }), {
      error: 'expected a list of texts of the form NAME=TARGET',
    })
    .min(1, { error: 'expected at least one target' })
    .max(CHECK_LIMITS.targets, { error: `expected at most ${CHECK_LIMITS.targets} targets` })
    .describe('Name of a target and what to probe, such as web1=10.0.0.5:443'),
);

export const interval = field.duration.describe('Time between two probes of a target, such as 30s');

/** The own fields of each kind. */
export const OWN_FIELDS = {
  min_days: z
    .int({ error: DAYS })
    .min(0, { error: DAYS })
    .max(minDays, { error: DAYS })
    .optional()
    .describe('Of tls: days that the certificate must still be valid; default 14'),
  expect: z
    .int({ error: STATUS })
    .refine((status) => status === 0 || (status >= 100 && status <= 599), { error: STATUS })
    .optional()
    .describe('Of http: the expected status; default any of 2xx and 3xx'),
  method: field.oneOf(HTTP_METHODS).optional().describe('Of http: the method; default GET'),
  expect_body: field.as(
    'TEXT',
    z
      .string()
      .min(1, { error: 'expected a text' })
      .refine((text) => Buffer.byteLength(text) <= expectBodyBytes, {
        error: `expected at most ${expectBodyBytes} bytes`,
      })
      .optional()
      .describe('Of http: a text that the body must contain'),
  ),
  expect_addr: field.as(
    'IP',
    z
      .string()
      .transform((text, context) => {
        const address = canonicalAddress(text);
        if (address !== null) return address;
        context.addIssue({ code: 'custom', message: 'expected an IP address' });
        return z.NEVER;
      })
      .optional()
      .describe('Of dns: an address that the name must have'),
  ),
  op: field.oneOf(METRIC_OPS).optional().describe('Of metric, required: how the number compares'),
  value: z
    .number({ error: 'expected a number' })
    .optional()
    .describe('Of metric, required: the limit that it compares with'),
  pointer: field
    .text(pointerCharacters)
    .regex(POINTER, { error: 'expected a JSON pointer such as /status/load' })
    .optional()
    .describe('Of metric: JSON pointer to the number in the answer'),
};

/** Throws invalid_argument. */
export function readInterval(text: string): number {
  return requireDuration('interval', text, CHECK_LIMITS.intervalMs.min, CHECK_LIMITS.intervalMs.max);
}

/** Throws invalid_argument. Thousands take long, so others have their turn in between. */
export async function readTargets(clock: Clock, kind: CheckKind, texts: readonly string[]): Promise<Target[]> {
  const reader = new TargetReader(kind);
  const timer = new YieldTimer(clock);
  const read: Target[] = [];
  for (const text of texts) {
    read.push(reader.read(text));
    if (timer.isDue) await timer.breathe();
  }
  return read;
}
