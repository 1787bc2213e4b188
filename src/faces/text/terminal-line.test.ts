import assert from 'node:assert/strict';
import { test } from 'node:test';
import { array, assert as holds, boolean, constantFrom, property } from 'fast-check';
import { terminalLine } from './terminal-line.ts';

const CODE = '(?:0?|[1-4]|2[2-4]|39|[39][1-6])';
const DRAWN = new RegExp(`\u001b\\[${CODE}(?:;${CODE})*m`, 'g');

test('A line of output has its colours where they are drawn, and none elsewhere; a bar is its last state', () => {
  const line = '\u001b[1;36mskipping\u001b[0m \u001b[92mok\u001b[m\u001b[2K 9 %\r\u001b[31mfailed\u001b[K';
  assert.equal(terminalLine(line, true), '\u001b[31mfailed\u001b[0m');
  assert.equal(terminalLine(line, false), 'failed');
  assert.equal(terminalLine(line.split('\r')[0] ?? '', false), 'skipping ok 9 %');
  assert.equal(
    terminalLine(line.split('\r')[0] ?? '', true),
    '\u001b[1;36mskipping\u001b[0m \u001b[92mok\u001b[m 9 %\u001b[0m',
  );
});

test('T44: A terminal gets weights and foreground colours alone: nothing that hides, moves or stays', () => {
  assert.equal(terminalLine('\u001b[8;30;41mhidden\u001b[5;7m\u001b[38;5;31mx\u001b[48;2;4;4;4my', true), 'hiddenxy');
  const piece = constantFrom(
    '\u001b',
    '[',
    '\u001b[',
    '?',
    '31',
    '8',
    '38;5;',
    ';',
    'm',
    'H',
    '\u0007',
    '\r',
    'x',
    '\u009b',
  );
  holds(
    property(array(piece), boolean(), (pieces, isDrawn) => {
      const shown = terminalLine(pieces.join(''), isDrawn);
      const rest = shown.replaceAll(DRAWN, '');
      assert.doesNotMatch(rest, /\p{Cc}/u);
      if (!isDrawn) assert.equal(rest, shown);
      else if (rest !== shown) assert.ok(shown.endsWith('\u001b[0m'), JSON.stringify(shown));
    }),
  );
});
