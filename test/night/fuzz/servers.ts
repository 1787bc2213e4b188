/** Servers of TLS and HTTP that break their rules at any byte: a probe ends with a word for it, and never rejects. */
import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { type CheckKind, PROBE_DETAILS } from '../../../src/domain/checks/check.ts';
import type { ProbeDeps } from '../../../src/probes/deps.ts';
import { HandClock } from '../../support/clock.ts';
import { listen } from '../../support/network/listener.ts';
import { loopbackProbes, probeOnce } from '../../support/network/probing.ts';
import { listenFaulty, TLS_VERSIONS } from '../../support/network/tls-peer.ts';
import { type Certificate, createAuthority } from '../../support/notify/push-authority.ts';
import { type FuzzTarget, fuzzTarget } from './target.ts';
import { texts } from './texts.ts';

const ANSWERS = [
  'HTTP/1.1 200 OK\r\n',
  'HTTP/1.1 200 OK\n',
  'HTTP/1.0 204\r\n',
  'HTTP/1.1 100 Continue\r\n\r\n',
  'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n',
  'HTTP/2 200\r\n',
  'Content-Length: 4\r\n',
  'Content-Length: 5\r\nContent-Length: 4\r\n',
  'Content-Length: 99999999999999999999\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Transfer-Encoding: gzip, chunked\r\n',
  'Content-Encoding: gzip\r\n',
  'Content-Encoding: br\r\n',
  'Content-Encoding: deflate\r\n',
  'Content-Encoding: zstd\r\n',
  'Content-Encoding: gzip, gzip\r\n',
  'Content-Encoding: constructor\r\n',
  'Content-Type: text/plain; charset=utf-16\r\n',
  'Content-Type: text/plain; charset=shift_jis\r\n',
  'Content-Type: ;charset="\r\n',
  'X: a\r\n folded\r\n',
  'X : a\r\n',
  ': a\r\n',
  '\r\n',
  '\n',
  'body',
  '4\r\nbody\r\n',
  '0\r\n\r\n',
  'zz\r\n',
  '\u001f\u008b\b\0\0\0\0\0\0\u0003',
  '5',
];
const ENDS = ['end', 'destroy', 'resetAndDestroy'] as const;
/** The handshakes and the probe of one value, in milliseconds of processor time. */
const BOUND = { baseMs: 2_000, perCharacterMs: 0.1 };
/** Values of one round: each has a server. */
const ROUND_RUNS = 10;

/** What a target has open while it probes one value. */
class Opened {
  readonly #ends: (() => unknown)[] = [];

  after(end: () => unknown): void {
    this.#ends.push(end);
  }

  async close(): Promise<void> {
    for (const end of this.#ends.splice(0)) await end();
  }
}

interface Prober {
  readonly clock: HandClock;
  readonly deps: ProbeDeps;
}

function proberWith(ca: readonly string[]): Prober {
  const clock = new HandClock(Date.now());
  return { clock, deps: loopbackProbes({ clock, ca }) };
}

/** A server that stays silent is down when the time of the probe is over, which no value waits for. */
async function requireWord({ clock, deps }: Prober, kind: CheckKind, at: string): Promise<void> {
  const probing = probeOnce(deps, kind, at, kind === 'http' ? { expectBody: 'body' } : {});
  const late = setInterval(() => clock.advance(1_000), 100);
  try {
    const { up, detail } = await probing;
    assert.ok(PROBE_DETAILS.includes(detail));
    assert.equal(up, detail === 'ok');
  } finally {
    clearInterval(late);
  }
}

function httpTarget(): FuzzTarget {
  const opened = new Opened();
  const prober = proberWith([]);
  const value = fc.tuple(fc.constantFrom('http', 'metric'), texts(ANSWERS), fc.constantFrom(...ENDS), fc.nat(500));
  const target = fuzzTarget(
    'probe-http-server',
    value,
    async ([kind, text, end, cut]) => {
      const bytes = Buffer.from(text.startsWith('HTTP') ? text : `${ANSWERS[0]}${text}`, 'latin1');
      const listener = await listen(opened, (socket) =>
        socket.once('data', () => socket.write(cut === 0 ? bytes : bytes.subarray(0, cut), () => socket[end]())),
      );
      await requireWord(prober, kind, `http://127.0.0.1:${listener.port}/`);
      await opened.close();
    },
    BOUND,
    ROUND_RUNS,
  );
  return { ...target, close: () => opened.close() };
}

function tlsTarget(): FuzzTarget {
  const [opened, lasting] = [new Opened(), new Opened()];
  let made: (Prober & { readonly certificate: Certificate }) | undefined;
  const make = (): typeof made & object => {
    const authority = createAuthority(lasting);
    return { ...proberWith([authority.ca.toString()]), certificate: authority.certificate(['127.0.0.1']) };
  };
  const fault = fc.record({
    version: fc.constantFrom(...TLS_VERSIONS),
    when: fc.constantFrom('hello', 'open'),
    sends: fc.oneof(
      fc.tuple(fc.constantFrom(1, 2, 0), fc.nat(255)),
      fc.uint8Array({ maxLength: 100 }),
      fc
        .tuple(fc.constantFrom(20, 21, 22, 23, 24), fc.uint8Array({ maxLength: 60 }))
        .map(([type, content]) => Buffer.concat([Buffer.from([type, 3, 3, 0, content.length]), content])),
    ),
  });
  const target = fuzzTarget(
    'probe-tls-server',
    fc.tuple(fc.constantFrom('tls', 'http', 'metric'), fault),
    async ([kind, each]) => {
      made ??= make();
      const listener = await listenFaulty(opened, made.certificate, each);
      const at = `127.0.0.1:${listener.port}`;
      await requireWord(made, kind, kind === 'tls' ? at : `https://${at}/`);
      await opened.close();
    },
    BOUND,
    ROUND_RUNS,
  );
  return {
    ...target,
    async close() {
      await opened.close();
      await lasting.close();
      made = undefined;
    },
  };
}

export const SERVER_TARGETS: readonly FuzzTarget[] = [httpTarget(), tlsTarget()];
