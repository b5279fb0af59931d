import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { html } from '../../src/pages/html/html.ts';

test('text is escaped, whatever it is', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const markup = String(html`<p title="${text}">${text}</p>`);
      const [, attribute, content] = /^<p title="([\s\S]*)">([\s\S]*)<\/p>$/.exec(markup) ?? [];
      assert.doesNotMatch(`${attribute}${content}`, /[<>"']|&(?!(?:amp|lt|gt|quot|#39);)/);
    }),
  );
});

test('Html is placed as it is, lists are joined, and nothing stands for nothing', () => {
  const items = ['<1>', '2'].map((item) => html`<li>${item}</li>`);
  const markup = html`<ul>${items}${[null, [undefined, false, 0]]}</ul>${['<', html`<br>`]}`;
  assert.equal(String(markup), '<ul><li>&lt;1&gt;</li><li>2</li>0</ul>&lt;<br>');
});

test('an object that only looks like markup is refused', () => {
  const impostor = { toString: () => '<script>' };
  // @ts-expect-error: Html is nominal
  assert.throws(() => html`${impostor}`);
});
