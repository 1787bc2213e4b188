/** A line between a browser and a program that a test can cut, and mend again. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

interface Relay {
  readonly url: string;
  /** Ends every connection, and refuses new ones until `mend`. */
  cut(): void;
  mend(): void;
  stop(): Promise<void>;
}

export async function startRelay(port: number): Promise<Relay> {
  const open = new Set<Socket>();
  let isCut = false;
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(one);
      one.pipe(other);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        open.delete(one);
        other.destroy();
      });
    }
    if (isCut) near.destroy();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const end = (): void => {
    for (const socket of open) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut() {
      isCut = true;
      end();
    },
    mend: () => void (isCut = false),
    async stop() {
      server.close();
      end();
      await once(server, 'close');
    },
  };
}
