/** The console in a real browser: a program, the address at which the browser reaches it, and who is signed in. */
import assert from 'node:assert/strict';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import type { Scope } from '../../../src/domain/access/scope.ts';
import { type Program, type ProgramOptions, startProgram } from '../program.ts';
import { CHROMIUM } from '../tools.ts';
import { startNginx } from './nginx.ts';

const FLAGS = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
export function startBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM, args: FLAGS, chromiumSandbox: false });
}

export interface Look {
  readonly width: number;
  readonly height: number;
  readonly colorScheme: 'light' | 'dark';
  readonly javaScriptEnabled?: boolean;
}

export const DESK: Look = { width: 1280, height: 800, colorScheme: 'light' };
export const PHONE: Look = { width: 360, height: 740, colorScheme: 'dark' };

/** A program, and where browsers reach it: with the base path, without a slash at its end. */
export interface Place {
  readonly program: Program;
  readonly url: string;
  close(): Promise<void>;
}

export async function openPlace(options: ProgramOptions = {}): Promise<Place> {
  const program = await startProgram(null, options);
  return { program, url: program.url, close: () => program.close() };
}

export async function openPlaceBehindNginx(basePath: string): Promise<Place> {
  const program = await startProgram(null, { basePath });
  const nginx = await startNginx(program.port, basePath);
  const close = async (): Promise<void> => {
    await nginx.stop();
    await program.close();
  };
  return { program, url: nginx.url + basePath, close };
}

export interface Visit {
  readonly context: BrowserContext;
  readonly page: Page;
  /** Errors on the pages, and requests that leave the place. */
  readonly faults: string[];
}

/** A browser of somebody who has signed in on the page that was asked for. Closing the context closes its pages. */
export async function signedIn(
  browser: Browser,
  { program, url }: Place,
  look: Look,
  path = '/',
  scope: Scope = 'operator',
): Promise<Visit> {
  const { width, height, ...others } = look;
  const context = await browser.newContext({ viewport: { width, height }, ...others });
  const faults: string[] = [];
  context.on('console', (message) => {
    // A refused request is an error of the console too: those of these tests are on purpose.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      faults.push(message.text());
  });
  context.on('request', (request) => {
    if (!request.url().startsWith(`${url}/`)) faults.push(`asks ${request.url()}`);
  });
  const page = await context.newPage();
  page.on('pageerror', (error) => faults.push(String(error)));
  await page.goto(url + path);
  await page.locator('input[name=token]').fill(program.tokens[scope]);
  await page.keyboard.press('Enter');
  await page.locator('nav').first().waitFor();
  // The script runs after the page was read: a key that comes before it is lost.
  await page.waitForLoadState('load');
  return { context, page, faults };
}

/** Presses Tab until the element has the focus, which must be visible. */
export async function tabTo(page: Page, selector: string): Promise<void> {
  for (let i = 0; i < 80; i += 1) {
    await page.keyboard.press('Tab');
    const focused = `document.activeElement?.matches(${JSON.stringify(selector)}) === true`;
    if ((await page.evaluate(focused)) !== true) continue;
    assert.notEqual(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle'), 'none');
    return;
  }
  assert.fail(`Tab does not reach ${selector}`);
}
