import { isLoopback, readAddress } from './listen-address.ts';
import { refuseSetting } from './refuse-setting.ts';
import { basePath, publicUrl, setting, statusChecks, timeZone, trustedProxies } from './setting-values.ts';

/** Of the API and web pages: `serve` and `web` have flags of different names for it. */
const WEB_ADDR_DEFAULT = '127.0.0.1:8420';

/** Where the program is reached, and by which names. */
export const LISTENER_SETTINGS = {
  webAddr: setting({
    flag: 'web-addr',
    placeholder: 'ADDR',
    only: ['serve'],
    help: `Address of the API and web pages; default ${WEB_ADDR_DEFAULT}; port 0 selects a free one`,
    read: (text) => readAddress('web-addr', text ?? WEB_ADDR_DEFAULT),
  }),
  addr: setting({
    flag: 'addr',
    placeholder: 'ADDR',
    only: ['web'],
    help: `Address of the API and web pages; default ${WEB_ADDR_DEFAULT}; port 0 selects a free one`,
    read: (text) => readAddress('addr', text ?? WEB_ADDR_DEFAULT),
  }),
  ingressAddr: setting({
    flag: 'ingress-addr',
    placeholder: 'ADDR',
    only: ['serve'],
    help: 'Loopback address of webhooks and decision links; default 127.0.0.1:8421',
    read(text) {
      const at = readAddress('ingress-addr', text ?? '127.0.0.1:8421');
      return isLoopback(at.host) ? at : refuseSetting('ingress-addr', 'expected a loopback address');
    },
  }),
  statusAddr: setting({
    flag: 'status-addr',
    placeholder: 'ADDR',
    only: ['serve'],
    help: 'Address of a public page with the state of the checks of --status-check; off by default',
    read: (text) => (text === undefined ? null : readAddress('status-addr', text)),
  }),
  statusChecks: setting({
    flag: 'status-check',
    placeholder: 'NAME[=LABEL]',
    only: ['serve'],
    repeat: true,
    help: 'Show this check on the status page, under this label; repeatable, in the variable with ; in between',
    read: statusChecks,
  }),
  basePath: setting({
    flag: 'base-path',
    placeholder: 'PREFIX',
    only: ['serve', 'web'],
    help: 'Path prefix of API and pages; /hook and /approval have none',
    read: basePath,
  }),
  trustedProxy: setting({
    flag: 'trusted-proxy',
    placeholder: 'CIDR',
    only: ['serve', 'web'],
    repeat: true,
    help: 'Trust X-Forwarded-For and -Proto of proxies in this CIDR; repeatable',
    read: trustedProxies,
  }),
  publicUrl: setting({
    flag: 'public-url',
    placeholder: 'URL',
    only: ['serve', 'web'],
    help: 'Origin of webhook URLs, decision links and links to pages, without a path',
    read: publicUrl,
  }),
  timeZone: setting({
    flag: 'time-zone',
    placeholder: 'ZONE',
    only: ['serve', 'web'],
    help: "Zone of times on pages, beside UTC, such as Europe/Berlin; default the machine's",
    read: timeZone,
  }),
} as const;
