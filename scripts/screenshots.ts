/**
 * `npm run screenshots -- [DIR]`: pictures of the main pages of the console on a week of data, light and dark, on a
 * desk and on a phone. They are written to DIR, by default a new folder for temporary files.
 */
import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { HandClock } from '../test/support/clock.ts';
import { tellWeek } from '../test/support/console/week.ts';
import { startProgram } from '../test/support/program.ts';
import { CHROMIUM } from '../test/support/tools.ts';
import { readArguments } from './arguments.ts';

const WEEK_MS = 7 * 86_400_000;
const WIDTHS = [
  { name: 'desk', width: 1280, height: 800, isMobile: false, hasTouch: false },
  { name: 'phone', width: 390, height: 844, isMobile: true, hasTouch: true },
  // For the README: small enough for the tree.
  { name: 'readme', width: 960, height: 560, isMobile: false, hasTouch: false },
] as const;

const { positionals } = readArguments('npm run screenshots [-- DIR]', {}, true);
const dir = positionals[0] ?? mkdtempSync(join(tmpdir(), 'gatehouse-screenshots-'));
mkdirSync(dir, { recursive: true });
const endings: (() => Promise<void>)[] = [];
try {
  const clock = new HandClock(Date.now() - WEEK_MS);
  const program = await startProgram({ after: (step) => void endings.push(step) }, { clock });
  const week = await tellWeek(program, clock);
  const pages: Readonly<Record<string, string>> = {
    overview: '/',
    approvals: '/approvals',
    approval: `/approvals/${week.approval}`,
    jobs: '/jobs',
    job: `/jobs/${week.failed}`,
    hosts: `/jobs/${week.playbook}/hosts`,
    events: '/events',
    event: `/events/${week.event}`,
    check: '/checks/ssh',
    schedules: '/schedules',
    workspace: '/workspaces/net',
    workflow: `/runs/${week.run}`,
  };
  const browser = await chromium.launch({ executablePath: CHROMIUM, chromiumSandbox: false });
  endings.push(() => browser.close());
  for (const { name: width, isMobile, hasTouch, ...viewport } of WIDTHS)
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await browser.newPage({ viewport, colorScheme, isMobile, hasTouch });
      await page.goto(program.url);
      await page.locator('input[name=token]').fill(program.tokens.operator);
      await page.keyboard.press('Enter');
      await page.locator('nav').first().waitFor();
      for (const [name, path] of Object.entries(pages)) {
        await page.goto(program.url + path);
        await page.screenshot({ path: join(dir, `${name}-${width}-${colorScheme}.png`) });
      }
      await page.close();
    }
  process.stdout.write(`${Object.keys(pages).length * WIDTHS.length * 2} pictures are in ${dir}\n`);
} finally {
  for (const end of endings.toReversed()) await end();
}
