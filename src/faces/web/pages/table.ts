import { DASHBOARD } from './dashboard.ts';
import type { Page } from './page.ts';

export const PAGES: readonly Page[] = [DASHBOARD];
