import * as z from 'zod';
import { SCOPES } from '../../domain/access/scope.ts';
import { time } from '../shapes.ts';

/** Of a token of a program, and of no other. */
export const agent = { agent: z.literal(true).optional(), only: z.array(z.string()).optional() };

const token = z.object({
  id: z.string(),
  name: z.string(),
  owner: z.string(),
  scope: z.enum(SCOPES),
  created_at: time,
  expires_at: time.nullable(),
  revoked_at: time.nullable(),
  ...agent,
});

export const TOKEN_VIEWS = {
  'token.created': z.object({
    id: z.string(),
    name: z.string(),
    scope: z.enum(SCOPES),
    expires_at: time.nullable(),
    token: z.string(),
    ...agent,
  }),
  'token.list': z.array(token),
  'token.get': token,
} as const satisfies Record<string, z.ZodType>;
