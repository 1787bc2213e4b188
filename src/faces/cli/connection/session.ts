import { readableWord } from '../../../domain/shell-word.ts';
import type { Projected } from '../../../views/views.ts';
import type { Fields, GivenFlags } from '../syntax/arguments.ts';
import { type Called, type Client, parseEnvelope, readAll } from './client.ts';
import type { Options } from '../context/options.ts';
import { sizeOf, type Terminal, write } from '../terminal.ts';
import type { Verb } from '../syntax/tree.ts';

/** One command in progress: the request, the output format and the client that executes it. */
export interface Session {
  readonly terminal: Terminal;
  readonly options: Options;
  readonly flags: GivenFlags;
  readonly verb: Verb;
  readonly fields: Fields;
  readonly client: Client;
}

/** One of a program that contacts no server and opens no store. */
export type ProgramSession = Omit<Session, 'client'>;

/** Shows an answer: in JSON mode the bytes unchanged, else as text for people. */
export async function show(session: Session, called: Called): Promise<Shown | null> {
  if (called.shape === 'none') return null;
  if (session.options.output === 'json') {
    for await (const chunk of called.chunks) await write(session.terminal.stdout, chunk);
    return null;
  }
  const text = await readAll(called.chunks);
  const envelope = parseEnvelope(text);
  await showData(session, envelope);
  return { kind: envelope.kind, text };
}

/** What text mode has shown, and the envelope of it. */
export interface Shown {
  readonly kind: string;
  readonly text: string;
}

/** Shows the data of an answer as text for people; a value shown only once is alone on standard output. */
export async function showData(session: Session, { kind, data }: { kind: string; data: unknown }): Promise<void> {
  const [{ render, secretOf }, { cancelled }] = await Promise.all([
    import('../render.ts'),
    import('../../areas/jobs/text.ts'),
  ]);
  const { stdout, stderr, clock } = session.terminal;
  const width = stdout.isTTY === true ? sizeOf(stdout).width : null;
  const display = {
    nowMs: clock.now(),
    color: session.options.color,
    width,
    place: placeFlags(session),
    noMatch: noMatch(session),
  };
  const secret = secretOf(kind, data);
  const { call } = session.verb;
  const removed = 'operation' in call && call.removes === true ? 'Removed:\n' : '';
  const text =
    'operation' in call && call.cancels === true
      ? cancelled(data as Projected<'job.get'>, display)
      : render(kind, data, display);
  await write(secret === null ? stdout : stderr, removed + text);
  if (secret !== null) await write(stdout, secret);
}

/** The message for a list that flags made empty: other rows may exist. */
function noMatch({ verb, fields }: Session): string | undefined {
  const item = 'operation' in verb.call ? verb.call.item : undefined;
  if (item === undefined) return undefined;
  const given = verb.flags.flatMap(({ name, field }) => {
    // A limit only leaves out older rows.
    const value = field === undefined || name === 'limit' ? undefined : fields[field];
    return typeof value === 'string' || typeof value === 'number' ? [`--${name} ${readableWord(`${value}`)}`] : [];
  });
  if (given.length === 0) return undefined;
  return `No ${item} matches ${given.join(' ')}.`;
}

/** The flags of the same server, for proposed commands: ` --remote URL`. */
export function placeFlags({ flags }: Pick<Session, 'flags'>): string {
  const names = ['remote', 'context', 'token-file', 'data-dir'].filter((name) => flags[name] !== undefined);
  return names.map((name) => ` --${name} ${readableWord(flags[name] ?? '')}`).join('');
}
