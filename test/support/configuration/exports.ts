/** Small exports of other programs. Only that of cron was made by the program; each says what the others follow. */

/** With the names that `toJSON` of a monitor and the page of backups have in the source of Uptime Kuma 2.0.0-dev.0. */
export const UPTIME_KUMA = JSON.stringify({
  version: '1.23.11',
  notificationList: [{ id: 1, name: 'ops' }],
  monitorList: [
    {
      id: 1,
      name: 'My Site',
      type: 'http',
      url: 'https://example.org/',
      method: 'GET',
      hostname: null,
      port: null,
      maxretries: 0,
      weight: 2000,
      active: true,
      timeout: 48,
      interval: 60,
      retryInterval: 60,
      keyword: null,
      invertKeyword: false,
      ignoreTls: true,
      upsideDown: false,
      accepted_statuscodes: ['200-299'],
      dns_resolve_type: 'A',
      dns_resolve_server: '1.1.1.1',
      notificationIDList: { 1: true },
      tags: [],
      authMethod: 'basic',
      headers: null,
      body: null,
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
    { id: 9, name: 'No error', type: 'keyword', url: 'https://example.org/', keyword: 'error', invertKeyword: true },
    { id: 10, name: 'Down', type: 'ping', hostname: '192.0.2.9', upsideDown: true },
  ],
});

/** A configuration file of Gatus 5, with the names of fields and conditions of its source (config/endpoint). */
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

/** A backup of a project of Semaphore, with the names of its source (services/project/types.go, db/Schedule.go). */
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
  schedules: [
    { name: 'nightly', cron_format: '0 3 * * *', template: 'Patch', active: true, type: '' },
    {
      name: 'tonight',
      cron_format: '',
      template: 'Patch',
      active: true,
      type: 'run_at',
      run_at: '2026-01-01T00:00:00Z',
    },
  ],
});

/** After the documentation of `awx export` and of schedules of AWX 24; no AWX was run. */
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

/** /etc/crontab as Debian 12's package cron-daemon-common 3.0pl1-162 has it, without its first comments. */
export const DEBIAN_CRONTAB = `SHELL=/bin/sh
PATH=/usr/local/sbin:/usr/local/bin:/sbin:/bin:/usr/sbin:/usr/bin

# Example of job definition:
# .---------------- minute (0 - 59)
# |  .------------- hour (0 - 23)
# |  |  .---------- day of month (1 - 31)
# |  |  |  .------- month (1 - 12) OR jan,feb,mar,apr ...
# |  |  |  |  .---- day of week (0 - 6) (Sunday=0 or 7) OR sun,mon,tue,wed,thu,fri,sat
# |  |  |  |  |
# *  *  *  *  * user-name command to be executed
17 *\t* * *\troot\tcd / && run-parts --report /etc/cron.hourly
25 6\t* * *\troot\ttest -x /usr/sbin/anacron || { cd / && run-parts --report /etc/cron.daily; }
47 6\t* * 7\troot\ttest -x /usr/sbin/anacron || { cd / && run-parts --report /etc/cron.weekly; }
52 6\t1 * *\troot\ttest -x /usr/sbin/anacron || { cd / && run-parts --report /etc/cron.monthly; }
#
`;

/** Further forms of crontab(5) of Debian, by hand; the heading is that of Debian 10. */
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
