import type { ProgramIo } from '../../faces/cli/terminal.ts';
import type { Settings } from '../../config/settings/settings.ts';
import type { Daemon } from '../../daemon/daemon.ts';
import type { Signals } from '../../daemon/core/signals.ts';
import { localCaller } from '../../domain/access/caller.ts';
import { findGate } from '../../store/gate/gate.ts';
import { createToken } from '../../operations/access/tokens.ts';
import { encode } from '../../operations/core/envelope.ts';
import { invoke, type Runtime } from '../../operations/core/invoke.ts';
import { listTokens } from '../../store/access/tokens.ts';
import { VERSION } from '../../version.ts';
import type { HandedOver } from './hand-over.ts';

/** A program that answers: where, and how to end it. */
export interface Running {
  readonly webUrl: string;
  readonly ingressUrl: string | null;
  readonly statusUrl: string | null;
  readonly runtime: Runtime;
  readonly daemon: Daemon | null;
  readonly signals: Signals;
  /** Resolves when the program is to be started again in this process, with what tells, after `stop`, what is kept. */
  readonly restartInPlace: Promise<() => HandedOver>;
  stop(): Promise<void>;
}

const CREATE_TOKEN = 'svc token create --name NAME --scope operator';

/** The line that scripts wait for, and at a first start how to sign in. */
export async function sayReady(running: Running, settings: Settings, io: ProgramIo): Promise<void> {
  const { webUrl, ingressUrl, statusUrl, runtime } = running;
  if (io.output === 'json') {
    const data = {
      web_url: webUrl,
      ingress_url: ingressUrl,
      data_dir: settings.dataDir,
      pid: process.pid,
      version: VERSION,
      ...(statusUrl === null ? {} : { status_url: statusUrl }),
    };
    io.stdout.write(encode('serve.ready', data));
  } else {
    const hooks = ingressUrl === null ? '' : `, hooks on ${ingressUrl}`;
    const status = statusUrl === null ? '' : `, status page on ${statusUrl}`;
    io.stdout.write(
      `Gatehouse ${VERSION} is ready on ${webUrl}${hooks}${status} (data in ${settings.dataDir}, pid ${process.pid})\n`,
    );
  }
  if ((await listTokens(runtime.store.db)).length > 0) return;
  io.stderr.write(
    io.interactive
      ? await firstToken(running)
      : `No token yet. Make one, with the same data directory and database as this daemon: ${CREATE_TOKEN}\n`,
  );
}

/** On an interactive first start the token is shown once. */
async function firstToken({ runtime, webUrl }: Running): Promise<string> {
  const answer = await invoke(runtime, createToken, {
    caller: localCaller('first-start'),
    raw: { name: 'first', scope: 'operator', ...((await findGate(runtime.store)).isStrict ? { expires: '90d' } : {}) },
  });
  const token = answer.shape === 'body' ? (answer.data as { token: string }).token : '';
  return `Your first token, shown this once: ${token}\nSign in with it on ${webUrl}\n`;
}
