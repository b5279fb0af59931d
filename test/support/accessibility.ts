/** What is wrong with a page for those who cannot see it, or not well. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

/** What a page is given to look at itself: the short form, since each page has to read it anew. */
const AXE = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/** Gives each document that a page will open what it looks at itself with: to hand it to each costs more than all else. */
export async function prepareLooking(page: Page): Promise<void> {
  await page.addInitScript(AXE);
}

/** What axe finds against an open page, each in words. Throws where the page has frames, which nobody would look into. */
export async function inaccessible(page: Page): Promise<string[]> {
  assert.equal(page.frames().length, 1, 'our pages have no frames');
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(AXE);
  // All rules are run. Violations alone are told in full, and handed over: to hand over the rest takes longer than to find it.
  const violations = await page.evaluate<AxeResults['violations']>(
    "axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations)",
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, html, failureSummary }) => `${id} ${target} ${html}: ${failureSummary}`),
  );
}
