/** The photos in the album, drawn, so that nothing has to be loaded from anywhere. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Html, html } from '../../src/pages/html/html.ts';

/** The product's logo as a file; Valetkey's pages show it too. */
export const LOGO_FILE = fileURLToPath(new URL('logo.svg', import.meta.url));

/** The same for a page. */
export const LOGO = `data:image/svg+xml,${encodeURIComponent(readFileSync(LOGO_FILE, 'utf8').trim())}`;

type Scene = {
  readonly title: string;
  readonly sky: readonly [top: string, bottom: string];
  readonly sun: readonly [color: string, x: number, y: number, radius: number];
  /** From the farthest to the nearest: a color, and the outline of its upper edge. */
  readonly land: readonly (readonly [color: string, edge: string])[];
};

const SCENES: readonly Scene[] = [
  {
    title: 'Noon at the lake',
    sky: ['#9fd0e4', '#e4f1f2'],
    sun: ['#ffdf9b', 300, 78, 30],
    land: [
      ['#7397b0', 'M0 190 70 110l50 48 76-100 90 118 54-56 60 60'],
      ['#3f7d5f', 'M0 206c90-34 150-30 210-6 60-30 130-28 190 0'],
      ['#3f8fa8', 'M0 222h400'],
    ],
  },
  {
    title: 'Dunes, eight in the evening',
    sky: ['#5f5a94', '#f3a07c'],
    sun: ['#ffe2b8', 118, 150, 34],
    land: [
      ['#b8616a', 'M0 196c70-40 130-30 190-4s130 16 210-26'],
      ['#8c4560', 'M0 226c90-10 120-52 196-44s130 60 204 40'],
      ['#5b2f52', 'M0 266c110-50 250-6 400-36'],
    ],
  },
  {
    title: 'First snow',
    sky: ['#c3cfe2', '#f4f2f0'],
    sun: ['#ffffff', 210, 92, 24],
    land: [
      ['#a9b7cc', 'M0 190 64 130l40 36 84-92 70 84 58-48 84 78'],
      ['#e9eef4', 'M0 214c100-26 220-34 400-6'],
      ['#ffffff', 'M0 250c130-34 270-8 400-26'],
    ],
  },
  {
    title: 'Night train',
    sky: ['#131a3c', '#40508f'],
    sun: ['#f6ecc9', 320, 66, 20],
    land: [
      ['#2b376b', 'M0 200 90 128l64 60 70-78 96 92 80-56'],
      ['#1b2450', 'M0 226c80-24 240-24 400 0'],
      ['#0d1330', 'M0 256h400'],
    ],
  },
  {
    title: 'Behind the house',
    sky: ['#f7d9a6', '#fdf3dd'],
    sun: ['#f08a4b', 86, 96, 32],
    land: [
      ['#c9b458', 'M0 206c70-30 130-20 200-8s140-14 200-30'],
      ['#7f9a4a', 'M0 232c120-40 260 20 400-24'],
      ['#4b6b38', 'M0 266c110-26 290-26 400 0'],
    ],
  },
  {
    title: 'Low tide',
    sky: ['#8fb9c9', '#f6dccb'],
    sun: ['#fff3d6', 196, 148, 26],
    land: [
      ['#5d8597', 'M0 190h400'],
      ['#86a7a8', 'M0 214c120 8 260-10 400 4'],
      ['#d9c3a3', 'M0 250c120-28 280 16 400-16'],
    ],
  },
];

/** The photos, each with its title. */
export const photos: readonly { readonly title: string; readonly picture: Html }[] = SCENES.map((scene, place) => ({
  title: scene.title,
  picture: picture(scene, `sky-${place}`),
}));

function picture({ sky: [top, bottom], sun: [color, x, y, radius], land }: Scene, id: string): Html {
  return html`<svg class="photo" viewBox="0 0 400 300" preserveAspectRatio="xMidYMid slice" aria-hidden="true">
<defs><linearGradient id="${id}" x1="0" y1="0" x2="0" y2="1"><stop offset="0" stop-color="${top}"/><stop offset="0.7" stop-color="${bottom}"/></linearGradient></defs>
<rect width="400" height="300" fill="url(#${id})"/><circle cx="${x}" cy="${y}" r="${radius}" fill="${color}"/>
${land.map(([fill, edge]) => html`<path d="${edge}V300H0z" fill="${fill}"/>`)}</svg>`;
}
