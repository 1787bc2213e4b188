/** Small exports of other programs, written by hand after the documented form of each. */

/** As the backup of Uptime Kuma 1.23 (Settings, Backup) has them. */
export const UPTIME_KUMA = JSON.stringify({
  version: '1.23.11',
  notificationList: [{ id: 1, name: 'ops' }],
  monitorList: [
    {
      id: 1,
      name: 'My Site',
      type: 'http',
      url: 'https://example.org/',
      interval: 60,
      accepted_statuscodes: ['200-299'],
    },
    {
      id: 2,
      name: 'API',
      type: 'keyword',
      url: 'https://example.org/api',
      method: 'POST',
      interval: 20,
      active: false,
      keyword: 'ok',
      accepted_statuscodes: ['201'],
    },
    { id: 3, name: 'SSH', type: 'port', hostname: '192.0.2.10', port: 22, interval: 60, active: 1 },
    { id: 4, name: 'SSH', type: 'port', hostname: 'db.example.org', port: 22, interval: 60 },
    { id: 5, name: 'ssh!', type: 'port', hostname: '192.0.2.11', port: 22, interval: 60 },
    { id: 6, name: 'Gateway', type: 'ping', hostname: '192.0.2.1', interval: 30 },
    { id: 7, name: 'Zone', type: 'dns', hostname: 'example.org', interval: 300 },
    { id: 8, name: 'Backup', type: 'push', interval: 3_600 },
  ],
});

/** As the configuration file of Gatus 5. */
export const GATUS = `
alerting: {slack: {webhook-url: "https://hooks.example.org/x"}}
endpoints:
  - name: front
    group: core
    url: https://example.org/
    interval: 2m
    conditions: ["[STATUS] == 200", "[BODY] == pat(*hello*)", "[RESPONSE_TIME] < 500", "[CONNECTED] == true"]
  - {name: cert, url: "tls://example.org:443", conditions: ["[CERTIFICATE_EXPIRATION] > 48h"]}
  - {name: ssh, url: "tcp://192.0.2.10:22", enabled: false}
  - {name: ping, url: "icmp://192.0.2.1"}
  - name: zone
    url: 192.0.2.53
    dns: {query-name: example.org., query-type: A}
    conditions: ["[DNS_RCODE] == NOERROR"]
  - {name: shell, url: "ssh://192.0.2.10"}
`;

/** As the backup of a project of Semaphore 2.10. */
export const SEMAPHORE = JSON.stringify({
  meta: { name: 'Ops' },
  repositories: [{ name: 'Play Books', git_url: 'https://u:hunter2@git.example.org/ops.git', git_branch: 'main' }],
  inventories: [{ name: 'Prod', type: 'static', inventory: '[web]\nweb1' }],
  keys: [{ name: 'deploy' }],
  templates: [
    {
      name: 'Patch',
      app: 'ansible',
      playbook: 'patch.yml',
      repository: 'Play Books',
      inventory: 'Prod',
      arguments: '["-v"]',
    },
    { name: 'Plan', app: 'terraform', playbook: '', repository: 'Play Books', inventory: 'Prod' },
    { name: 'By hand', app: 'ansible', playbook: 'x.yml', repository: 'Play Books', inventory: 'Prod' },
  ],
  schedules: [{ name: 'nightly', cron_format: '0 3 * * *', template: 'Patch', active: true }],
});

/** As `awx export` of AWX 24 prints them. */
export const AWX = JSON.stringify({
  projects: [{ name: 'Ops', scm_type: 'git', scm_url: 'https://git.example.org/ops.git', scm_branch: '' }],
  inventory: [{ name: 'Prod' }],
  credentials: [{ name: 'Machine' }],
  job_templates: [
    {
      name: 'Patch',
      playbook: 'patch.yml',
      project: { name: 'Ops', type: 'project' },
      inventory: { name: 'Prod', type: 'inventory' },
      job_tags: 'a,b',
      limit: 'web',
      extra_vars: '---',
      related: {
        schedules: [
          { name: 'daily', rrule: 'DTSTART;TZID=Europe/Berlin:20250101T031500 RRULE:FREQ=DAILY;INTERVAL=1' },
          { name: 'weekly', rrule: 'DTSTART:20250101T040000Z RRULE:FREQ=WEEKLY;INTERVAL=1;BYDAY=MO,FR' },
          { name: 'monthly', rrule: 'DTSTART:20250107T040000Z RRULE:FREQ=MONTHLY;INTERVAL=1' },
          { name: 'often', rrule: 'DTSTART:20250101T000000Z RRULE:FREQ=MINUTELY;INTERVAL=15' },
          { name: 'once', rrule: 'DTSTART:20250101T040000Z RRULE:FREQ=DAILY;INTERVAL=1;COUNT=1' },
          { name: 'other', rrule: 'DTSTART:20250101T040000Z RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=MO' },
        ],
      },
    },
  ],
});

/** The forms of crontab(5) of Debian; the first lines are those of its /etc/crontab. */
export const CRONTAB = `# /etc/crontab: system-wide crontab
SHELL=/bin/sh
# m h dom mon dow user\tcommand
17 *\t* * *\troot\tcd / && run-parts --report /etc/cron.hourly
CRON_TZ=Europe/Berlin
@daily www-data /usr/local/bin/tidy --all 100\\%
@reboot root /usr/local/bin/start
30 2 1 * * root mail -s 50%off x
nonsense
`;
