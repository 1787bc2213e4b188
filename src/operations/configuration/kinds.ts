import { SECTIONS, type Section } from '../../domain/configuration/file.ts';
import type { ConfigSection } from '../core/sections/section.ts';
import { checks } from './kinds/checks.ts';
import { inventories } from './kinds/inventories.ts';
import { netgroups } from './kinds/netgroups.ts';
import { rules } from './kinds/rules.ts';
import { schedules } from './kinds/schedules.ts';
import { sources } from './kinds/sources.ts';
import { webhooks } from './kinds/webhooks.ts';
import { workflows } from './kinds/workflows.ts';
import { workspaces } from './kinds/workspaces.ts';

/** What a configuration file may hold, in the order of changes. */
export const CONFIG_KINDS: Readonly<Record<Section, ConfigSection>> = {
  netgroups,
  sources,
  inventories,
  webhooks,
  workspaces,
  checks,
  workflows,
  rules,
  schedules,
};

/** The section of the objects of a word, such as `checks` of `check`. */
export function sectionOf(word: string): Section | undefined {
  return SECTIONS.find((section) => CONFIG_KINDS[section].word === word);
}
