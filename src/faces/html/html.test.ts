import assert from 'node:assert/strict';
import { test } from 'node:test';
import { html } from './html.ts';
import { shell } from './shell.ts';
import { signInPage } from '../web/pages/sign-in.ts';

test('Values are escaped, our markup is not', () => {
  const inner = html`<b title="${'"><script>'}">${"<i>&'"}</b>`;
  assert.equal(inner.text, '<b title="&quot;&gt;&lt;script&gt;">&lt;i&gt;&amp;&#39;</b>');
  assert.equal(html`<p>${inner}${[html`<br>`, html`<hr>`]}${7}</p>`.text, `<p>${inner.text}<br><hr>7</p>`);
});

test('T44: No name or message can leave its place in a page', () => {
  const evil = '"><img src=x onerror=alert(1)><script>alert(1)</script>';
  for (const page of [signInPage('', evil, evil), shell(evil, html`${evil}`)]) {
    assert.doesNotMatch(page, /<img|<script/);
    assert.ok(page.includes('&lt;script&gt;'));
  }
});

test('T44: Characters that are invisible or reorder letters are shown as escapes, on lines that stay lines', () => {
  assert.equal(html`<p title="${'a\u202eb'}">${'x\u0000\ny'}</p>`.text, '<p title="a\\u202eb">x\\u0000\ny</p>');
});

test('The sign-in page is one small answer', () => {
  assert.ok(Buffer.byteLength(signInPage('/ops', '/jobs', 'The token is unknown, expired or revoked.')) < 4_096);
});
