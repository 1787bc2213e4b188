import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventFile, labelVariables } from './event-input.ts';

test('Each label is a variable in upper case, on one line', () => {
  const labels = {
    mountpoint: '/srv',
    'app.kubernetes.io/name': 'shop',
    text: 'a\0b\r\nc',
    empty: '',
    ünï: 'x',
    '😀': 'y',
  };
  assert.deepEqual(labelVariables(labels), {
    SVC_LABEL_APP_KUBERNETES_IO_NAME: 'shop',
    SVC_LABEL_EMPTY: '',
    SVC_LABEL_MOUNTPOINT: '/srv',
    SVC_LABEL_TEXT: 'a b  c',
    SVC_LABEL__: 'y',
    SVC_LABEL__N_: 'x',
  });
});

test('Two labels that would share a variable set none, and a third of that name does not either', () => {
  assert.deepEqual(labelVariables({ 'a.b': '1', a_b: '2', A_B: '3', c: '4' }), { SVC_LABEL_C: '4' });
});

test('There are at most 64 variables, each of at most 2,000 bytes and of whole characters', () => {
  const many = Object.fromEntries(Array.from({ length: 70 }, (_, n) => [`l${n}`, 'x']));
  assert.equal(Object.keys(labelVariables(many)).length, 64);
  const [a, b] = Object.values(labelVariables({ a: 'x'.repeat(3_000), b: `x${'é'.repeat(1_500)}` }));
  assert.equal(a, 'x'.repeat(2_000));
  assert.equal(b, `x${'é'.repeat(999)}`);
});

test('The file is the view as JSON, cut where it has more than 256 KiB', () => {
  const view = { id: 'evt_1', labels: { a: 'b' }, annotations: { summary: 'full' } };
  assert.deepEqual(JSON.parse(eventFile(view).toString()), view);
  const pairs = Object.fromEntries(Array.from({ length: 64 }, (_, n) => [`l${n}`, '\u0001é'.repeat(1_000)]));
  const bytes = eventFile({ ...view, labels: pairs, annotations: pairs });
  assert.ok(bytes.length <= 256 * 1024, String(bytes.length));
  const cut = JSON.parse(bytes.toString()) as typeof view & { truncated: boolean };
  assert.deepEqual([cut.id, cut.truncated, Object.keys(cut.labels).length], ['evt_1', true, 64]);
});

test('The file says that the event was cut when it was received', () => {
  const view = { labels: { a: 'b' }, annotations: { gatehouse_cut: 'the label a is cut' } };
  assert.deepEqual(JSON.parse(eventFile(view).toString()), { ...view, truncated: true });
});
