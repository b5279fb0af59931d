/** Markdown of our own markup: foreign text stays text, and code stays code. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codeBlock, termList, termRow } from '../../src/pages/developers/developers-section.ts';
import { html } from '../../src/pages/html/html.ts';
import { markdownOf } from '../../src/pages/html/markdown.ts';

test('CommonMark §2.4: foreign text makes no tag, link, emphasis or code', () => {
  const hostile = '<script>x</script> [a](https://evil.example) **b** _c_ `d` \\ &lt;';
  assert.equal(
    markdownOf(html`<p>${hostile}</p>`),
    '\\<script\\>x\\</script\\> \\[a\\](https://evil.example) \\*\\*b\\*\\* \\_c\\_ \\`d\\` \\\\ \\&lt;',
  );
});

test('CommonMark §6.1, §4.5: code ends where it ends, whatever is in it', () => {
  assert.equal(markdownOf(html`<p><code>a\`b</code></p>`), '``a`b``');
  assert.equal(markdownOf(html`<p><code>${'`'}</code></p>`), '`` ` ``');
  assert.equal(markdownOf(codeBlock('Example', 'a\n```\n<b>')), 'Example:\n\n````\na\n```\n<b>\n````');
});

test('a section’s paragraphs, rows and points are Markdown’s', () => {
  const list = termList(termRow(html`<code>a</code>`, 'first', '400'), termRow('b', html`<strong>second</strong>`));
  const body = html`<p>One
line.</p>\n${list}\n<ul>\n<li>x</li>\n<li>y</li>\n</ul><h3>More</h3>`;
  assert.equal(markdownOf(body), 'One line.\n\n- `a` 400: first\n- b: **second**\n\n- x\n- y\n\n### More');
});

test('a tag that no section has is an error, and not lost', () => {
  assert.throws(() => markdownOf(html`<table></table>`), /no Markdown for <table>/);
});
