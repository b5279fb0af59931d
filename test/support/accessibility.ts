/** What is wrong with a page for those who cannot see it, or not well. */
import assert from 'node:assert/strict';
import axe, { type AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

/** What axe finds against an open page, each in words. Throws where the page has frames, which nobody would look into. */
export async function inaccessible(page: Page): Promise<string[]> {
  assert.equal(page.frames().length, 1, 'our pages have no frames');
  await page.evaluate(axe.source);
  // All rules are run; what follows them in full is told of violations alone.
  const { violations } = await page.evaluate<AxeResults>("axe.run({ resultTypes: ['violations'] })");
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, html, failureSummary }) => `${id} ${target} ${html}: ${failureSummary}`),
  );
}
