/** What is wrong with a page for those who cannot see it, or not well. */
import assert from 'node:assert/strict';
import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';

/** What axe finds against an open page, each in words. Throws where the page has frames, which nobody would look into. */
export async function inaccessible(page: Page): Promise<string[]> {
  assert.equal(page.frames().length, 1, 'our pages have no frames');
  // The other mode opens a further page each time, to put together what frames answered.
  const { violations } = await new AxeBuilder({ page }).setLegacyMode().analyze();
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, html, failureSummary }) => `${id} ${target} ${html}: ${failureSummary}`),
  );
}
