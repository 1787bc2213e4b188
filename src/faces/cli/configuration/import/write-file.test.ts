import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IMPORTERS } from './importers.ts';
import { writeConfigFile } from '../../../../operations/configuration/write-file.ts';

test('The report of an import names each URL whose credential the file hides, and no other', async () => {
  const urls = [
    'https://example.org/a@b',
    'https://u:p@example.org/',
    'https://token@example.org/',
    'https://example.org/?author=a&page=1',
    ...['token', 'client_secret', 'api-key', 'x.auth', 'key', 'sig', 'PASSWORD', 'passphrase', 'pwd', '%74oken'].map(
      (name) => `https://example.org/?a=b&${name}=x`,
    ),
  ];
  for (const url of urls) {
    const { checks, schedules, notes } = await (IMPORTERS['crontab'] ?? assert.fail())(`0 1 * * * fetch "${url}"\n`, 0);
    const isHidden = (await writeConfigFile(null, { checks, schedules })).includes('[kept]');
    const needed = 'Needed: fetch: write the credential in place of [kept] in its URL';
    assert.equal(notes.includes(needed), isHidden, url);
  }
});
