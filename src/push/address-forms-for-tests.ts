/** Ways to write the URL of something that no push may reach, for T36. */

const INNER_V4 = ['127.0.0.1', '127.255.255.254', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', '169.254.169.254', '169.254.1.1', '0.0.0.0', '255.255.255.255', '224.0.0.1', '239.255.255.250', '100.64.0.1', '198.18.0.1', '192.0.2.1', '203.0.113.7', '192.0.0.192', '240.0.0.1', '168.63.129.16'];
const INNER_V6 = ['::1', '::', 'fe80::1', 'fd00::1', 'fc00::1', 'fd00:ec2::254', 'ff02::1', 'ff05::2', 'fec0::1', '2001:db8::1', '3fff::1', '100::1', '64:ff9b:1::1', '5f00::1', '2001:2::1', '::127.0.0.1', '::10.0.0.1', '::8.8.8.8'];

const hex = (n: number): string => n.toString(16).padStart(2, '0');

/** Every way in which parsers read one IPv4 address. */
function formsOfV4(address: string): string[] {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
  const number = ((a * 256 + b) * 256 + c) * 256 + d;
  const words = `${hex(a)}${hex(b)}:${hex(c)}${hex(d)}`;
  return [
    address,
    `${address}.`,
    String(number),
    `0x${number.toString(16)}`,
    `0${number.toString(8)}`,
    `0x${hex(a)}.0x${hex(b)}.0x${hex(c)}.0x${hex(d)}`,
    `0${a.toString(8)}.0${b.toString(8)}.0${c.toString(8)}.0${d.toString(8)}`,
    `${a}.${b * 65_536 + c * 256 + d}`,
    `${a}.${b}.${c * 256 + d}`,
    Array.from(address, (sign) => (/\d/.test(sign) ? String.fromCodePoint(0xff10 + Number(sign)) : '。')).join(''),
    `[::ffff:${address}]`,
    `[::ffff:${words}]`,
    `[0:0:0:0:0:ffff:${words}]`,
    `[64:ff9b::${address}]`,
    `[2002:${words}::]`,
    `[2002:${words}::1]`,
    `[::ffff:0:${address}]`,
    `[2001:0:${words}::1]`,
    `[2001:0:808:808:0:0:${hex(a ^ 255)}${hex(b ^ 255)}:${hex(c ^ 255)}${hex(d ^ 255)}]`,
  ];
}

const HOSTS = [...INNER_V4.flatMap(formsOfV4), ...INNER_V6.map((address) => `[${address}]`), '[fe80::1%25eth0]', '[fe80::1%eth0]', 'localhost', 'LOCALHOST', 'localhost.', 'a.localhost', 'metadata', 'host', '①②⑦.⓪.⓪.①'];

const ODD = [
  'http://push.example.com/a', 'HTTP://push.example.com/a', 'ftp://push.example.com/', 'file:///etc/passwd', 'gopher://push.example.com/', 'javascript:alert(1)', 'data:,x', '//push.example.com/a',
  'push.example.com', '', ' ', 'https:', 'https://', 'https:///', 'https:/\\127.0.0.1/', 'https:\\\\127.0.0.1\\', 'https:/127.0.0.1/', 'https:127.0.0.1', 'https://\\127.0.0.1/', 'https://user@push.example.com/',
  'https://user:pass@push.example.com/', 'https://push.example.com@127.0.0.1/', 'https://127.0.0.1@push.example.com/', 'https://push.example.com:22/', 'https://push.example.com:25/', 'https://push.example.com:80/', 'https://push.example.com:0/',
  'https://push.example.com:65536/', 'https://push.example.com:-1/', 'https://push.example.com\\@127.0.0.1/', 'https://push.exa mple.com/', ' https://push.example.com/', 'https://push.example.com/\n', 'https://pu\tsh.example.com/', 'https://push..example.com/',
  'https://.push.example.com/', 'https://push.example.com./', `https://push.example.com/${'a'.repeat(2_000)}`, 'https://[::1/', 'https://::1/', 'https://%31%32%37.0.0.1/', 'https://127。0。0。1/', 'https://[2606:4700::1111%25lo]/', 'https://0x08080808/', 'https://134744072/',
];

export const ADDRESS_FORMS: readonly string[] = [...HOSTS.map((host) => `https://${host}/push`), ...ODD];
