/** A configuration file with every kind of object, and the operations on such files. */
import type { Projected } from '../../../src/views/views.ts';
import type { Program } from '../program.ts';
import { callLocally } from '../fixtures/workspaces.ts';

export type Diff = Projected<'config.diff'>;
export type Applied = Projected<'config.applied'>;

export const exported = async (program: Program, set?: string): Promise<string> =>
  (await callLocally<{ text: string }>(program, 'config.export', set === undefined ? {} : { set })).text;
export const diff = (program: Program, text: string, some: object = {}): Promise<Diff> =>
  callLocally<Diff>(program, 'config.diff', { text, ...some });
export const apply = (program: Program, text: string, some: object = {}): Promise<Applied> =>
  callLocally<Applied>(program, 'config.apply', { text, ...some });

/** `+ check web`, for each change. */
export function changesOf({ changes }: Diff): string[] {
  return changes.map(({ change, kind, name }) => `${change} ${kind} ${name}`);
}

export const RULE = `
  - name: disk-full
    when: event.source == "generic" && event.labels.instance == "db1"
    cooldown: 10m
    approval: required
    approval_ttl: 30m
    summary: Look at the disk
    action:
      command: ["df", "-h", "\${path(event.labels.mountpoint)}"]
      inventory: localhost
      timeout: 5m`;

/** With each kind, and a credential where an object may have one. */
export const FULL = `set: all
netgroups:
  - name: dc
    prefixes: [10.0.0.0/8, fd00::/8]
    excludes: [10.9.0.0/16]
sources:
  - {name: infra, git: "ssh://git@git.example.org/ops/infra.git", ref: main}
  - {name: roles, dir: /srv/roles, plugins: true}
inventories:
  - name: prod
    ssh_key: agent
    text: |
      web:
        hosts:
          web[1:2]:
            ansible_user: ops
        vars:
          feed: https://u:hunter2@h/
webhooks:
  - {name: alerts, source: alertmanager, signed: true}
workspaces:
  - name: net
    source: infra
    path: roots/net
    deny_when: size(plan.destroys) > 10
    protect_destroy: true
checks:
  - {name: api, kind: http, interval: 90s, targets: ["a=https://u:hunter2@example.org/x?token=hunter2"], expect: 204}
  - {name: cert, kind: tls, interval: 1h, targets: ["a=example.org:443"], min_days: 30, enabled: false}
  - {name: load, kind: metric, interval: 1m, targets: ["a=http://10.0.0.1/m"], op: "<", value: 0.5, pointer: /load}
  - {name: name, kind: dns, interval: 1m, targets: [a=example.org], expect_addr: 192.0.2.1}
workflows:
  - name: patch
    steps:
      - {name: first, command: [echo, 5, "https://u:hunter2@h/"], inventory: localhost}
      - {name: second, apply: net, approval: required, approval_ttl: 1h}
      - {name: third, needs: [first], when: 'steps.first.state == "succeeded"', plan: net}
rules:${RULE}
  - name: fetch
    when: event.source == "generic"
    action: {command: [curl, "https://u:hunter2@h/x"], inventory: localhost, egress_ports: [443]}
    enabled: false
schedules:
  - {name: all, cron: 0 3 * * *, timezone: Europe/Berlin, drift_all: true, enabled: false}
  - {name: fetch, cron: "*/5 * * * *", command: [curl, "https://u:hunter2@h/y"], inventory: localhost, timeout: 5m}
  - {name: run, cron: 5 5 * * 1, workflow: patch, approval: required, approval_ttl: 30m, summary: Patch}
`;
