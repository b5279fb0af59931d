const black = '#000000';
const white = '#ffffff';

function channels(color: string): number[] {
  return [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
}

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = channels(color)
    .map((value) => value / 255)
    .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Returns the contrast of two `#rrggbb` colors, from 1 (the same) to 21 (black on white), as WCAG 2 defines it. */
export function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

/** Returns the color at `share` (0 to 1) of the way from one `#rrggbb` color to another. */
export function mix(from: string, to: string, share: number): string {
  const target = channels(to);
  const mixed = channels(from).map((value, index) => Math.round(value + ((target[index] ?? value) - value) * share));
  return `#${mixed.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
}

/** Returns the largest difference of two `#rrggbb` colors in one channel, 0 to 255. */
export function distance(one: string, other: string): number {
  const target = channels(other);
  return Math.max(...channels(one).map((value, index) => Math.abs(value - (target[index] ?? value))));
}

/** Returns black or white, whichever is easier to read on the color; one of them always has a contrast above 4.5. */
export function textOn(color: string): string {
  return contrast(color, white) >= contrast(color, black) ? white : black;
}

/**
 * Returns the nearest tone of the color with at least the contrast `ratio` to each background. The backgrounds must
 * be all light or all dark.
 */
export function readableTone(color: string, backgrounds: readonly string[], ratio: number): string {
  const goal = textOn(backgrounds[0] ?? white);
  const tones = Array.from({ length: 51 }, (_, step) => mix(color, goal, step / 50));
  return tones.find((tone) => backgrounds.every((background) => contrast(tone, background) >= ratio)) ?? goal;
}
