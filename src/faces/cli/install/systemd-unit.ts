/** What a unit is written for. */
export interface UnitPlace {
  /** Absolute path of the command. */
  readonly command: string;
  readonly dataDir: string;
}

/**
 * The unit that docs/how-to/run-as-a-service.md describes: two accounts, three capabilities, and a control group that
 * the daemon may part among its jobs. The page says what the daemon needs that other services are hardened against.
 */
export function systemdUnit({ command, dataDir }: UnitPlace): string {
  return `[Unit]
Description=Gatehouse
After=network-online.target
Wants=network-online.target

[Service]
Type=notify
NotifyAccess=main
WatchdogSec=120
User=gatehouse
ExecStart=${word(command)} serve --data-dir ${word(dataDir)} --job-user gatehouse-job
ExecReload=/bin/sh -c 'kill -HUP $$MAINPID'
AmbientCapabilities=CAP_SETUID CAP_SETGID CAP_KILL
CapabilityBoundingSet=CAP_SETUID CAP_SETGID CAP_KILL
StateDirectory=gatehouse-runs
StateDirectoryMode=0711
Restart=on-failure
KillMode=mixed
TimeoutStartSec=15min
TimeoutStopSec=30
LimitRTPRIO=1
LimitNICE=-20
Delegate=yes
NoNewPrivileges=yes
ProtectSystem=full
PrivateDevices=yes
ProtectClock=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
RestrictNamespaces=yes
LockPersonality=yes
SystemCallArchitectures=native

[Install]
WantedBy=multi-user.target
`;
}

/** A word of a command line as systemd reads it: `%` and `$` begin something, and a blank ends it. */
function word(text: string): string {
  const plain = text.replaceAll('%', '%%').replaceAll('$', '$$$$');
  return /^[A-Za-z0-9_@%+=:,./$-]+$/.test(plain) ? plain : `"${plain.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}
