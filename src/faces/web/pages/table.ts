import { AREA_PAGES } from '../../areas/pages.ts';
import type { Action } from '../../console/action.ts';
import { pagesOf } from '../../console/area-pages.ts';
import type { Page } from '../../console/page.ts';
import { DOCS_PAGES } from './docs.ts';
import { OVERVIEW } from './overview.ts';

/** The pages of the console: those of the areas, and those that belong to none. */
export const PAGES: readonly Page[] = [OVERVIEW, ...pagesOf(AREA_PAGES), ...DOCS_PAGES];

export const ACTIONS: readonly Action[] = AREA_PAGES.flatMap(({ actions = [] }) => actions);
