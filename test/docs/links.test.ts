/** Links between documents: each file, heading and image that a document names is there, and each npm script too. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const ROOT = new URL('../..', import.meta.url);
const DOCUMENTS = globSync(['*.md', 'docs/**/*.md', 'packages/*/README.md'], { cwd: ROOT });
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };

test('every link between documents leads to a file and a heading that are there', () => {
  assert.ok(DOCUMENTS.length > 15);
  const links = DOCUMENTS.flatMap((path) => linksOf(path).map((link) => ({ path, link })));
  assert.ok(links.filter(({ link }) => link.includes('#')).length > 20, 'links to headings are found');
  const broken = links.filter(({ path, link }) => !leadsSomewhere(path, link));
  assert.deepEqual(broken, []);
});

test('every page is linked from docs/README.md, or from the list of decisions', () => {
  const linked = ['docs/README.md', 'docs/decisions/README.md', 'README.md'].flatMap((path) =>
    linksOf(path).map((link) => new URL(link.replace(/#.*/, ''), new URL(path, ROOT)).href),
  );
  const pages = globSync('docs/**/*.md', { cwd: ROOT }).map((path) => new URL(path, ROOT).href);
  assert.deepEqual(
    pages.filter((page) => !linked.includes(page)),
    [],
  );
});

test('each document that the code, the tests and the shipped files name is there', () => {
  const files = globSync(
    ['{src,test,tools,bench,demo,examples,deploy,packages}/**/*.{ts,mjs,sql,sh,yml,conf,service,txt}', 'Dockerfile'],
    { cwd: ROOT, exclude: (path) => path.includes('node_modules') },
  );
  const named = files.flatMap((file) =>
    [...read(file).matchAll(/\bdocs\/[\w/-]+\.md\b/g)].map(([path]) => ({ file, path })),
  );
  assert.ok(named.length > 20, 'documents are named');
  assert.deepEqual(
    named.filter(({ path }) => !existsSync(new URL(path, ROOT))),
    [],
  );
});

test('README and contributing: every npm script that they name exists', () => {
  const named = ['README.md', 'CONTRIBUTING.md'].flatMap((path) =>
    [...read(path).matchAll(/npm run (?:-s )?([a-z][a-z:-]*)/g)].map(([, name = '']) => name),
  );
  assert.ok(named.length > 10, 'commands are found');
  assert.deepEqual(
    named.filter((name) => !(name in scripts)),
    [],
  );
});

function read(path: string): string {
  return readFileSync(new URL(path, ROOT), 'utf8');
}

/** The targets of a document's links and images, relative to it. Links to other sites are left out. */
function linksOf(path: string): string[] {
  const prose = read(path).replaceAll(/```.*?```/gs, '');
  const found = prose.matchAll(/\]\((?!https?:|mailto:)([^)\s]+)|<img src="([^"]+)"/g);
  return [...found].map(([, link, image]) => link ?? image ?? '');
}

function leadsSomewhere(path: string, link: string): boolean {
  const [file = '', heading] = link.split('#');
  const target = file === '' ? new URL(path, ROOT) : new URL(file, new URL(path, ROOT));
  if (!existsSync(target)) return false;
  return heading === undefined || anchorsOf(readFileSync(target, 'utf8')).includes(heading);
}

/** The anchors that GitHub gives the headings of a document: a repeated one ends in its number. */
function anchorsOf(document: string): string[] {
  const headings = document.replaceAll(/```.*?```/gs, '').matchAll(/^#{1,6} +(.+)$/gm);
  const slugs = [...headings].map(([, heading = '']) =>
    heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{Letter}\p{Number}\p{Mark} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
  return slugs.map((slug, index) => {
    const before = slugs.slice(0, index).filter((earlier) => earlier === slug).length;
    return before === 0 ? slug : `${slug}-${before}`;
  });
}
