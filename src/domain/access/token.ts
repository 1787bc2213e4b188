import { randomBytes } from '../../lib/random.ts';
import { isId } from '../../lib/id.ts';

const SECRET_BYTES = 32;
const SECRET = /^[A-Za-z0-9_-]{43}$/;
const PREFIX = 'svc_';
const ID_LENGTH = 26;

/** 256 random bits, base64url. */
export function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

/** `svc_<id>_<secret>`: the id is looked up, the secret is verified. */
export function formatToken(id: string, secret: string): string {
  return `${PREFIX}${id.slice('tok_'.length)}_${secret}`;
}

/** The parts of a token; null when the text has not its form. */
export function parseToken(text: string): { id: string; secret: string } | null {
  if (text.length !== PREFIX.length + ID_LENGTH + 1 + 43 || !text.startsWith(PREFIX)) return null;
  const id = `tok_${text.slice(PREFIX.length, PREFIX.length + ID_LENGTH)}`;
  const secret = text.slice(PREFIX.length + ID_LENGTH + 1);
  if (text[PREFIX.length + ID_LENGTH] !== '_' || !isId('tok', id) || !SECRET.test(secret)) return null;
  return { id, secret };
}
