/** A duration is written in one way: `30s`, `1h30m`, as flags and the API take it. */
import { isStringLiteralLikeNode, type Node, SyntaxKind } from 'typescript/unstable/ast';
import { type Finding, isTest, judgeNodes, type Samples, type SourceRule, at, type TextFile } from './source.ts';

export const WHY =
  'A reader copies a duration into a flag. Write `30s`, `5m`, `1h30m` or `250ms`, as src/domain/duration.ts does; ' +
  'relative to now `2m ago` and `in 2m`. See docs/contributing/words.md.';

const SPACED = /\d+ (?:ms|s|min|h|d)\b/;
/** After a value in a template. */
const SPACED_TAIL = /^ (?:ms|s|min|h)\b/;

export const durationRule: SourceRule = {
  why: WHY,
  find(source) {
    return !source.path.startsWith('src/') || isTest(source.path) ? [] : judgeNodes(source, judge);
  },
};

function judge(node: Node): string | undefined {
  const isPart = node.kind === SyntaxKind.TemplateHead;
  const isTail = node.kind === SyntaxKind.TemplateMiddle || node.kind === SyntaxKind.TemplateTail;
  if (!isPart && !isTail && !isStringLiteralLikeNode(node)) return undefined;
  const { text } = node as Node & { readonly text: string };
  return SPACED.test(text) || (isTail && SPACED_TAIL.test(text)) ? `writes the duration "${text}"` : undefined;
}

export const DURATION_SAMPLES: Samples = {
  bad: at('src/a.ts', "say('within 5 s');", 'say(`it took ${n} min`);', 'say(`${a} of 3 h, ${b}`);'),
  good: at('src/a.ts', "say('within 5s');", '// 5 s\nsay(`${n}m ago ${b} side`);', "say('3 hosts');"),
};

/** Measurements and records of decisions stay as they are, and the page of the rule shows what is wrong. */
const UNCHECKED = /^(?:bench\/|docs\/decisions\/|docs\/contributing\/words\.md)/;

/** Of a document. */
export function ofDocument({ path, text }: TextFile): Finding[] {
  if (!path.endsWith('.md') || UNCHECKED.test(path)) return [];
  return text.split('\n').flatMap((line, index) => {
    const found = SPACED.exec(line);
    return found === null ? [] : [{ path, line: index + 1, what: `writes the duration "${found[0]}"` }];
  });
}
