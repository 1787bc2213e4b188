/** Marks of states differ by shape, by word and, for each kind of colour vision, by colour. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { JOB_STATES } from '../../src/domain/jobs/job.ts';
import { JOB_PAINTS } from '../../src/faces/areas/jobs/text.ts';
import { mark } from '../../src/faces/console/marks.ts';
import { programFile } from '../../src/lib/files/program-files.ts';

type Colour = readonly [number, number, number];
type Matrix = readonly [Colour, Colour, Colour];

const HUES = ['run', 'ok', 'warn', 'fail', 'wait', 'idle'];
/** Of 100; a smaller distance is seen as one colour. */
const DISTANCE_MIN = 10;
/** Of linear RGB, for total loss of one kind of cones: Machado, Oliveira and Fernandes, 2009. */
const VISIONS: Readonly<Record<string, Matrix>> = {
  normal: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};
/** From linear RGB to the responses of the cones, and from their roots to OKLab (Ottosson, 2020). */
const TO_CONES: Matrix = [
  [0.4122214708, 0.5363325363, 0.0514459929],
  [0.2119034982, 0.6806995451, 0.1073969566],
  [0.0883024619, 0.2817188376, 0.6299787005],
];
const TO_OKLAB: Matrix = [
  [0.2104542553, 0.793617785, -0.0040720468],
  [1.9779984951, -2.428592205, 0.4505937099],
  [0.0259040371, 0.7827717662, -0.808675766],
];

function times(matrix: Matrix, [a, b, c]: Colour): Colour {
  const [x = 0, y = 0, z = 0] = matrix.map((row) => row[0] * a + row[1] * b + row[2] * c);
  return [x, y, z];
}

function each([a, b, c]: Colour, change: (part: number) => number): Colour {
  return [change(a), change(b), change(c)];
}

function oklab(hex: string, vision: Matrix): Colour {
  const full = hex.length === 4 ? hex.replaceAll(/[^#]/g, '$&$&') : hex;
  const parts = [1, 3, 5].map((at) => Number.parseInt(full.slice(at, at + 2), 16) / 255);
  const [r = 0, g = 0, b = 0] = parts.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  const seen = each(times(vision, [r, g, b]), (part) => Math.min(1, Math.max(0, part)));
  return times(TO_OKLAB, each(times(TO_CONES, seen), Math.cbrt));
}

describe('A mark', () => {
  it('has a colour that is not taken for another, whatever colours one sees, in both schemes', () => {
    const style = readFileSync(programFile('faces/console/style/base.css'), 'utf8');
    const near: string[] = [];
    for (const [scheme, at] of [
      ['light', 1],
      ['dark', 2],
    ] as const)
      for (const [vision, matrix] of Object.entries(VISIONS)) {
        const seen = HUES.map((hue) => {
          const found = new RegExp(`--${hue}: light-dark\\((#\\w+), (#\\w+)\\)`).exec(style);
          return [hue, oklab(found?.[at] ?? assert.fail(hue), matrix)] as const;
        });
        for (const [first, a] of seen)
          for (const [second, b] of seen) {
            const distance = 100 * Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
            if (first < second && distance < DISTANCE_MIN)
              near.push(`${scheme}, ${vision}: ${first} and ${second} ${distance.toFixed(1)}`);
          }
      }
    assert.deepEqual(near, []);
  });

  it('has a shape and a word for each state of a job', () => {
    const marks = JOB_STATES.map((state) => mark(state, JOB_PAINTS[state]).text);
    const shapes = marks.map((text) => / d="([^"]+)"/.exec(text)?.[1]);
    assert.equal(new Set(shapes).size, JOB_STATES.length);
    assert.ok(marks.every((text, at) => text.endsWith(`</svg>${JOB_STATES[at]}</span>`)));
  });
});
