import assert from 'node:assert/strict';
import { test } from 'node:test';
import { array, assert as holds, constantFrom, property } from 'fast-check';
import { ansiSpans } from './ansi.ts';
import { spanHtml } from '../areas/jobs/log/log.ts';

const shown = (text: string): string =>
  ansiSpans(text)
    .map((span) => spanHtml(span).text)
    .join('');

test('Colours and weights become classes until they end', () => {
  assert.equal(
    shown('\u001b[1;31mbad\u001b[22m more\u001b[39m plain'),
    '<span class="c-fail b">bad</span><span class="c-fail"> more</span> plain',
  );
  assert.equal(shown('\u001b[38;5;196mx\u001b[0m\u001b[38;2;1;2;3my'), 'xy', 'no number of a palette is an attribute');
});

test('Sequences that mean nothing here are left out, and a bar shows its last state', () => {
  assert.equal(shown('a\u001b[?25l\u001b(B\u001b]8;;http://x\u0007link\u001b]8;;\u001b\\\u001bPq\u001b\\z'), 'alinkz');
  assert.equal(shown('done\r'), 'done');
  assert.equal(shown(' 10 %\r 50 %\r100 %\r\r'), '100 %');
});

test('T44: Nothing is hidden by a sequence without its end', () => {
  assert.equal(shown('visible\u001b]rm -rf hidden'), String.raw`visible\u001b]rm -rf hidden`);
  assert.equal(shown('a\u001b'), String.raw`a\u001b`);
});

test('T43: No output makes an element other than ours, or an attribute', () => {
  const piece = constantFrom('\u001b[', '\u001b]', '31', ';', 'm', '<b>', '"', "'", '&', '\u0007', '\r', 'x', '\u202e');
  holds(
    property(array(piece), (pieces) => {
      const rest = shown(pieces.join('')).replaceAll(/<span class="[a-z -]*">|<\/span>/g, '');
      for (const character of ['<', '>', '"', "'", '\u0007', '\r', '\u001b', '\u202e'])
        assert.ok(!rest.includes(character), rest);
    }),
  );
});
