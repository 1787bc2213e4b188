import { BlockList } from 'node:net';

/** RTF_LOCAL and RTF_ANYCAST of linux/ipv6_route.h: packets to the prefix are for this machine. */
const FOR_US = 0x8010_0000;
const HEX = 16;

/**
 * The prefixes that the kernel takes for this machine, also those that no interface has as an address. `v4` is
 * /proc/net/fib_trie, where the lines of prefixes follow that of their address:
 *
 *       |-- 127.0.0.0
 *          /8 host LOCAL
 *
 * and `v6` is /proc/net/ipv6_route: destination, length, source, length, next hop, metric, two counters and flags.
 */
export function localRoutes(v4: string, v6: string): BlockList {
  const local = new BlockList();
  let address = '';
  for (const [, leaf, bits] of v4.matchAll(/^ *(?:\|-- ([\d.]+)|\/(\d+) \S+ LOCAL)$/gm)) {
    if (leaf !== undefined) address = leaf;
    else if (bits !== undefined && address !== '') local.addSubnet(address, Number(bits), 'ipv4');
  }
  for (const line of v6.split('\n')) {
    const [destination = '', bits = '', , , , , , , flags = '0'] = line.split(/ +/);
    if ((Number.parseInt(flags, HEX) & FOR_US) === 0) continue;
    const text = destination.match(/.{4}/g)?.join(':');
    if (text !== undefined) local.addSubnet(text, Number.parseInt(bits, HEX), 'ipv6');
  }
  return local;
}
