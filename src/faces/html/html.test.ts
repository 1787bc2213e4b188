import assert from 'node:assert/strict';
import { test } from 'node:test';
import { html } from './html.ts';
import { DASHBOARD } from '../web/pages/dashboard.ts';
import { unmadePage } from '../web/pages/missing.ts';
import { signInPage } from '../web/pages/sign-in.ts';

test('Values are escaped, our markup is not', () => {
  const inner = html`<b title="${'"><script>'}">${"<i>&'"}</b>`;
  assert.equal(inner.text, '<b title="&quot;&gt;&lt;script&gt;">&lt;i&gt;&amp;&#39;</b>');
  assert.equal(html`<p>${inner}${[html`<br>`, html`<hr>`]}${7}</p>`.text, `<p>${inner.text}<br><hr>7</p>`);
});

test('T44: No name or message can leave its place in a page', () => {
  const evil = '"><img src=x onerror=alert(1)><script>alert(1)</script>';
  for (const page of [
    signInPage('', evil),
    DASHBOARD.content({ basePath: '', version: evil, visitor: { name: evil, scope: evil, csrf: evil } }).text,
    unmadePage('', evil),
  ]) {
    assert.doesNotMatch(page, /<img|<script/);
    assert.ok(page.includes('&lt;script&gt;'));
  }
});

test('The sign-in page is one small answer', () => {
  assert.ok(Buffer.byteLength(signInPage('/ops', 'The token is unknown, expired or revoked.')) < 4_096);
});
