/**
 * Loaded into a daemon with `--import`, before its own code: its network is the one of a test. Name servers are asked
 * at the address that the test names, and connections to its public addresses end at listeners on loopback.
 */
import dns from 'node:dns/promises';
import { syncBuiltinESMExports } from 'node:module';
import net, { type NetConnectOpts, type Socket } from 'node:net';

/** What the variable GATEHOUSE_TEST_NETWORK holds, as JSON. */
export interface PreloadedNetwork {
  /** `address:port` of the one name server; without, the machine's own are asked. */
  readonly nameServer?: string;
  /** Ports of loopback, by the public address that they stand for. */
  readonly ports: Readonly<Record<string, number>>;
}

const { nameServer, ports } = JSON.parse(process.env['GATEHOUSE_TEST_NETWORK'] ?? '{"ports":{}}') as PreloadedNetwork;

if (nameServer !== undefined) {
  const only = [nameServer];
  dns.Resolver = class extends dns.Resolver {
    constructor(options?: ConstructorParameters<typeof dns.Resolver>[0]) {
      super(options);
      this.setServers(only);
    }
  };
}

/**
 * The look-up by the machine itself, on which a test must not depend: it knows no name, and fails with a distinct code.
 */
dns.lookup = (): Promise<never> => Promise.reject(Object.assign(new Error('not of this test'), { code: 'ELOOKUP' }));

const { connect } = net;
net.connect = ((options: NetConnectOpts, ...rest: []): Socket => {
  const address = 'host' in options ? String(options.host) : '';
  const port = ports[address];
  if (port === undefined) return connect(options, ...rest);
  return Object.defineProperty(connect({ host: '127.0.0.1', port }), 'remoteAddress', { value: address });
}) as typeof connect;
syncBuiltinESMExports();
