/** Prometheus with blackbox_exporter, measured only where both are installed. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { end, removeDir, start, tempDir } from '../kit/scratch.ts';
import { installed } from './peers.ts';

const EXPORTER_AT = '127.0.0.1:9115';
const PROMETHEUS_AT = '127.0.0.1:9090';

const MODULES = `modules:
  http_2xx:
    prober: http
    timeout: 5s
`;

function scraping(urls: readonly string[]): string {
  return `global:
  scrape_interval: 1s
  scrape_timeout: 1s
scrape_configs:
  - job_name: web
    metrics_path: /probe
    params: {module: [http_2xx]}
    static_configs:
      - targets: ${JSON.stringify(urls)}
    relabel_configs:
      - {source_labels: [__address__], target_label: __param_target}
      - {source_labels: [__param_target], target_label: instance}
      - {target_label: __address__, replacement: '${EXPORTER_AT}'}
`;
}

/** Probes these URLs each second while `use` runs with the ids of both programs; null where one is not installed. */
export async function withProbers<T>(
  urls: readonly string[],
  use: (pids: readonly number[]) => Promise<T>,
): Promise<T | null> {
  const [prometheus, exporter] = [installed('prometheus'), installed('prometheus-blackbox-exporter')];
  if (prometheus === null || exporter === null) return null;
  const dir = tempDir('probers');
  const [modules, config] = [join(dir, 'blackbox.yml'), join(dir, 'prometheus.yml')];
  writeFileSync(modules, MODULES);
  writeFileSync(config, scraping(urls));
  const programs = [
    start(exporter, [`--config.file=${modules}`, `--web.listen-address=${EXPORTER_AT}`], { stdio: 'ignore' }),
    start(
      prometheus,
      [`--config.file=${config}`, `--storage.tsdb.path=${dir}/data`, `--web.listen-address=${PROMETHEUS_AT}`],
      { stdio: 'ignore' },
    ),
  ];
  try {
    return await use(programs.map(({ pid }) => pid ?? 0));
  } finally {
    await Promise.all(programs.map((program) => end(program)));
    removeDir(dir);
  }
}
