/** Does one line of an example at the place, as a reader does it. */
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readArguments } from '../../src/faces/cli/syntax/arguments.ts';
import { TREE, type Verb } from '../../src/faces/cli/syntax/tree.ts';
import { before } from './before.ts';
import { onThisMachine } from './files.ts';
import { after, type Given, variables } from './given.ts';
import { UNREACHABLE } from './ids.ts';
import { svcLine, type SvcLine } from './line.ts';
import { type Place, remove } from './place.ts';
import { type Ran, runSvc } from './run.ts';

/** Ctrl-C ends what follows without an end. */
const EXIT_INTERRUPTED = 130;
const EXIT_DIFFERS = 2;
const INTERRUPT_AFTER_MS = 300;
/** The servers of the examples. */
const SERVER = /https:\/\/(?:ops|gatehouse)\.example\.(?:com|org|net)|http:\/\/(?:127\.0\.0\.1|10\.0\.0\.5):8420/g;

export interface Line {
  /** A page with its line, or a verb. */
  readonly at: string;
  readonly text: string;
  readonly command: string;
  readonly exitCode: number;
}

/** What is wrong with it; nothing if it did what it has to. */
export async function faultOf(given: Given, line: Line): Promise<string[]> {
  try {
    const { ran, expected } = await doLine(given, line);
    if (expected.includes(ran.code)) return [];
    return [
      `${line.at}: ${line.command.trim()}\n  exit code ${ran.code}, expected ${expected.join(' or ')}\n${ran.shown}`,
    ];
  } catch (error) {
    return [`${line.at}: ${line.command.trim()}\n  ${error instanceof Error ? error.message : String(error)}`];
  }
}

async function doLine(given: Given, line: Line): Promise<{ ran: Ran; expected: readonly number[] }> {
  const { place } = given;
  const { command, text, exitCode } = line;
  const [, folder] = /^cd (\S+)$/.exec(command.trim()) ?? [];
  if (folder !== undefined) {
    given.folder = resolve(given.folder, folder);
    return { ran: { code: existsSync(given.folder) ? 0 : 1, stdout: '', shown: 'no such folder' }, expected: [0] };
  }
  const written = svcLine(command, place.root);
  const verb = written === null ? null : verbOf(written.words);
  if (written !== null && verb !== null) await makeRoom(given, verb, written.words);
  await before(given, command);
  const where = { env: { ...place.env, ...(await variables(given, text)) }, folder: given.folder };
  if (written === null || verb === null)
    return { ran: await place.shell(await given.fill(atPlace(place, text)), where), expected: [exitCode] };
  const filled = svcLine(await given.fill(atPlace(place, command)), place.root) ?? written;
  const follows = 'operation' in verb.call && verb.call.follow === 'approvals';
  const asks = verb.path === 'secret set' && filled.input === null && !filled.words.includes('--file');
  const decides = verb.path.startsWith('approval') && filled.words.includes('--remote');
  const ran = await runSvc(answered(place, verb, filled), {
    folder: given.folder,
    env: decides ? { ...where.env, SVC_TOKEN: place.approver } : where.env,
    ...(follows ? { interruptAfterMs: INTERRUPT_AFTER_MS } : {}),
    ...(asks ? { typed: 'a-secret\n' } : {}),
  });
  after(given, command, ran.stdout);
  return { ran, expected: follows ? [EXIT_INTERRUPTED] : expectedOf(verb, exitCode) };
}

function expectedOf({ call }: Verb, exitCode: number): readonly number[] {
  const differs = 'operation' in call && call.differs !== undefined;
  return differs && exitCode === 0 ? [0, EXIT_DIFFERS] : [exitCode];
}

function verbOf(words: readonly string[]): Verb | null {
  const request = readArguments(TREE, words);
  return request.ask === 'run' ? request.verb : null;
}

/** The reader has other servers, hosts and folders than the example. */
function atPlace({ daemon, root, server, answers }: Place, text: string): string {
  return onThisMachine(text, root)
    .replaceAll(SERVER, daemon.ready.web_url)
    .replaceAll(/\bsudo (-u \w+ )?(?!setpriv)/g, '')
    .replaceAll('bin/svc', 'svc')
    .replaceAll(/\b10\.0\.0\.\d:443\b/g, answers)
    .replaceAll(/SHA256:[\w+/…]+/g, server.fingerprint)
    .replaceAll(/\b(ntfy|push)\.example\.com/g, UNREACHABLE);
}

/** The reader says yes, and names the port of the test's SSH server, which is not 22. */
function answered({ server }: Place, { path, call, flags }: Verb, line: SvcLine): SvcLine {
  const confirms = 'operation' in call ? call.confirm !== undefined : path === 'backup restore';
  const isAnswered = ['--yes', '--fingerprint'].some((flag) => line.words.includes(flag));
  const ports = flags.some(({ name }) => name === 'egress-port') && !line.words.includes('localhost');
  const isPlaybook = line.words[0] === 'playbook' && ports;
  const more = [
    ...(confirms && !isAnswered ? ['--yes'] : []),
    ...(isPlaybook ? ['--egress-port', String(server.port)] : []),
  ];
  const end = line.words.indexOf('--');
  const words = end < 0 ? [...line.words, ...more] : line.words.toSpliced(end, 0, ...more);
  return { ...line, words };
}

/** What the example adds is not there yet. */
async function makeRoom(given: Given, { path, flags }: Verb, words: readonly string[]): Promise<void> {
  const [noun = '', verb = ''] = path.split(' ');
  if (!['add', 'create'].includes(verb) || words.includes('--replace') || noun === 'silence' || noun === 'mute') return;
  const name = nameIn(given, words.slice(2), flags);
  if (name !== null) await remove(given.place, noun, name);
}

function nameIn({ folder }: Given, words: readonly string[], flags: Verb['flags']): string | null {
  const [first = '--'] = words;
  if (!first.startsWith('--')) return first;
  const valueOf = (flag: string): string | null =>
    words.includes(flag) ? (words[words.indexOf(flag) + 1] ?? null) : null;
  const file = valueOf('--file');
  if (file !== null && existsSync(join(folder, file)))
    return /^name: (\S+)$/m.exec(readFileSync(join(folder, file), 'utf8'))?.[1] ?? null;
  return flags.some(({ name }) => name === 'name') ? valueOf('--name') : null;
}
