/** Our own markup as Markdown, so that a text stands in one place. */
import type { Html } from './html.ts';

/** A block of code with its label (`code` in `developers-section.ts`). */
const BLOCK = /<pre[^>]* aria-label="([^"]*)"><code>([^<]*)<\/code><\/pre>/;
const PIECE = /<code[^>]*>(.*?)<\/code>|<(\/?[a-z]+\d?)[^>]*>|([^<]+)/g;

/** The Markdown of each tag of a section. */
const TAGS: Readonly<Record<string, string>> = {
  p: '\n\n',
  '/p': '\n\n',
  ul: '\n\n',
  '/ul': '\n\n',
  dl: '\n\n',
  '/dl': '\n\n',
  li: '\n- ',
  '/li': '',
  dt: '\n- ',
  '/dt': ': ',
  dd: '',
  '/dd': '',
  h3: '\n\n### ',
  '/h3': '\n\n',
  summary: '\n\n#### ',
  '/summary': '\n\n',
  strong: '**',
  '/strong': '**',
  em: '(',
  '/em': ')',
  div: '',
  '/div': '',
  details: '',
  '/details': '',
  span: ' ',
  '/span': ' ',
  bdi: '',
  '/bdi': '',
};

/** Returns the Markdown of a section's markup. Throws for a tag that sections do not have. */
export function markdownOf(markup: Html): string {
  const parts = String(markup).split(BLOCK);
  const kinds = [prose, (label: string) => `${escaped(decoded(label))}:`, (text: string) => fenced(decoded(text))];
  const said = parts.map((part, at) => kinds[at % kinds.length]?.(part));
  return said.filter((part) => part !== '').join('\n\n');
}

function prose(markup: string): string {
  const said = markup.replace(PIECE, (_, code?: string, tag?: string, text?: string) => {
    if (code !== undefined) return quoted(decoded(code.replace(/<[^>]*>/g, '')));
    if (tag !== undefined) return TAGS[tag] ?? unknown(tag);
    return escaped(decoded(text ?? '').replace(/\s+/g, ' '));
  });
  return said
    .replace(/ +/g, ' ')
    .replace(/ ?\n ?/g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

function unknown(tag: string): never {
  throw new Error(`no Markdown for <${tag}>`);
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };

function decoded(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => entities[name] ?? '');
}

/** Foreign text must not become a link, a tag or an emphasis. */
function escaped(text: string): string {
  return text.replace(/[\\`*_[\]<>&]/g, '\\$&');
}

/** Code ends at as many backticks as began it: more than are in it (CommonMark §6.1, §4.5). */
function backticks(text: string, least: number): string {
  const longest = Math.max(0, ...(text.match(/`+/g) ?? []).map(({ length }) => length));
  return '`'.repeat(Math.max(least, longest + 1));
}

function quoted(text: string): string {
  const mark = backticks(text, 1);
  const space = text.startsWith('`') || text.endsWith('`') ? ' ' : '';
  return mark + space + text + space + mark;
}

function fenced(text: string): string {
  const mark = backticks(text, 3);
  return `${mark}\n${text}\n${mark}`;
}
