/** Samples for the rules about kinds and operations. */
import { at, type Samples } from './source.ts';

export const KIND_SAMPLES = {
  'knows a kind of job only in the area of the kind': {
    bad: [
      ...at(
        'src/daemon/jobs/a.ts',
        "if (job.kind === 'command') run();",
        "const is = 'apply' !== facts.jobKind;",
        "switch (kind) {\n  case 'drift':\n    run();\n}",
        'const table: Partial<Readonly<Record<JobKind, number>>> = {};',
        'const some = new Set<JobKind>();\nconst others: ReadonlySet<JobKind> = some;',
        'let rows: ReadonlyMap<ActionKind, number>;',
        "if (['plan', 'drift'].includes(job.kind)) run();",
        "const kinds = new Set(['plan', 'drift']);",
        "const { kind: what } = row;\nif (what === 'command') run();",
        "const what = row.kind;\nif (what === 'command') run();",
        'type Table = { readonly [K in JobKind]?: number };',
      ),
      ...at('src/jobs/workspaces/a.ts', "if (kind === 'command') run();"),
    ],
    good: [
      ...at(
        'src/daemon/jobs/a.ts',
        "if (source.kind === 'git' || word === 'plan') run();",
        "const job = { kind: 'command' };",
        'const table: Readonly<Record<JobKind, number>> = rows;',
        'let some: Partial<Record<JobState, number>>;',
        'type Table = { readonly [K in JobKind]: number };',
        "if (['plan', 'add'].includes(verb)) run();",
      ),
      ...at('src/jobs/workspaces/a.ts', "if (kind === 'destroy') run();"),
      ...at('src/daemon/jobs/a.test.ts', "if (job.kind === 'command') run();"),
    ],
  },
  'imports the area of a kind only in a table': {
    bad: [
      ...at('src/daemon/core/a.ts', "import { x } from '../workspaces/b.ts';"),
      ...at('src/reaction/a.ts', "import type { X } from '../domain/commands/b.ts';"),
      ...at('src/operations/approvals/plan-view.ts', "import { x } from '../core/b.ts';"),
      ...at('src/jobs/commands/a.ts', "const { x } = await import('../workspaces/b.ts');"),
    ],
    good: [
      ...at('src/daemon/kinds.ts', "import { x } from '../workspaces/b.ts';"),
      ...at('src/daemon/workspaces/a.ts', "import { x } from '../../runners/terraform/b.ts';"),
      ...at('src/runners/terraform/a.ts', "import { x } from '../checkout/b.ts';"),
      ...at('src/app/a.ts', "import { x } from '../daemon/workspaces/b.ts';"),
      ...at('src/app.ts', "const { x } = await import('./app/backups/b.ts');"),
    ],
  },
  'compares no id of an operation': {
    bad: at(
      'src/faces/cli/a.ts',
      "if (row.id === 'job.list') run();",
      "const is = 'token.create' !== call.operation;",
      "switch (id) {\n  case 'approval.get':\n    run();\n}",
      "if (['command.run'].includes(id)) run();",
    ),
    good: at('src/faces/cli/a.ts', "const TEXTS = { 'job.list': jobs };", "if (name === 'seal.key') run();"),
  },
} satisfies Readonly<Record<string, Samples>>;
