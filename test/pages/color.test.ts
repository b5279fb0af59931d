import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { contrast, distance, mix, textOn } from '../../src/pages/layout/color.ts';
import { stylesheet } from '../../src/pages/layout/stylesheet.ts';

const someColor = fc.integer({ min: 0, max: 0xffffff }).map((value) => `#${value.toString(16).padStart(6, '0')}`);
const hardColors = ['#ffff00', '#000000', '#ffffff', '#ff0000', '#cfe2ff', '#808080', '#767676', '#3451d1'];

/** The custom properties of the light and of the dark scheme, read from the sheet itself. */
function schemes(color: string): Record<string, string>[] {
  const [light = '', dark = ''] = stylesheet(color).split('@media (prefers-color-scheme: dark)');
  return [light, dark.split('}')[0] ?? ''].map((part) =>
    Object.fromEntries(Array.from(part.matchAll(/--([a-z-]+): ([^;]+);/g), ([, name, value]) => [name, value])),
  );
}

function assertReadable(color: string): void {
  for (const scheme of schemes(color)) {
    const at = (name: string) => scheme[name] ?? assert.fail(`no --${name}`);
    const atLeast = (ratio: number, front: string, ...backs: string[]) => {
      for (const back of backs) {
        const value = contrast(at(front), at(back));
        assert.ok(value >= ratio, `${color}: --${front} on --${back} has ${value.toFixed(2)}, needs ${ratio}`);
      }
    };
    atLeast(4.5, 'on-brand', 'brand', 'brand-hover');
    atLeast(4.5, 'brand-text', 'canvas', 'surface', 'sunken', 'wash');
    atLeast(4.5, 'ink', 'canvas', 'surface', 'sunken', 'problem-wash');
    atLeast(4.5, 'muted', 'canvas', 'surface', 'sunken');
    atLeast(4.5, 'problem', 'surface', 'problem-wash');
    atLeast(4.5, 'success', 'success-wash');
    atLeast(3, 'brand-edge', 'canvas', 'surface');
    atLeast(3, 'edge', 'canvas', 'surface');
    assert.ok(distance(at('brand'), at('surface')) >= 48, `${color}: the main button looks like the others`);
  }
}

for (const color of hardColors) {
  test(`the brand color ${color} leaves everything readable, light and dark`, () => assertReadable(color));
}

test('any brand color leaves everything readable, light and dark', () => {
  fc.assert(fc.property(someColor, assertReadable), { numRuns: 500 });
});

test('contrast is that of WCAG', () => {
  assert.equal(contrast('#000000', '#ffffff'), 21);
  assert.equal(contrast('#777777', '#777777'), 1);
  assert.equal(contrast('#767676', '#ffffff').toFixed(2), '4.54');
});

test('mixing goes from one color to the other', () => {
  assert.equal(mix('#000000', '#ffffff', 0), '#000000');
  assert.equal(mix('#000000', '#ff8000', 0.5), '#804000');
  assert.equal(mix('#000000', '#ff8000', 1), '#ff8000');
});

test('text on a color is black or white, and has a contrast above 4.5', () => {
  fc.assert(fc.property(someColor, (color) => assert.ok(contrast(textOn(color), color) > 4.5)));
});
