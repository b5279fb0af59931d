/** Transcripts in documents: what stands after a `$` is run in a shell, and what stands below must come back. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';

/** A command of a transcript and what comes back, in which `…` is anything. */
export type TranscriptStep = { readonly command: string; readonly answer: string };

/** Whether there is a curl; a stand-in sends the same. */
export const hasCurl = spawnSync('curl', ['--version']).status === 0;

/** The steps of a document, in their order. */
export function readSteps(document: string): TranscriptStep[] {
  const blocks = [...document.matchAll(/```console\n(.*?)```/gs)].map(([, block = '']) => block);
  return blocks
    .flatMap((block) => block.split(/^\$ /m).slice(1))
    .map((text) => {
      const [command = '', ...answer] = text.trimEnd().split('\n');
      return { command, answer: answer.join('\n') };
    });
}

/** A folder for the length of a test. */
export function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'valetkey-readme-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Writes a program "curl" into a folder, and answers a PATH on which it is found first. */
export function pathWithStandIn(folder: string): string {
  const program = fileURLToPath(new URL('curl.child.ts', import.meta.url));
  const words = `'${process.execPath}' --disable-warning=ExperimentalWarning '${program}'`;
  writeFileSync(join(folder, 'curl'), `#!/bin/sh\nexec ${words} "$@"\n`, { mode: 0o755 });
  return folder + delimiter + process.env['PATH'];
}

/** Writes the program "valetkey" into a folder, which runs this checkout. */
export function writeValetkey(folder: string): void {
  const program = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
  const words = `'${process.execPath}' --disable-warning=ExperimentalWarning '${program}'`;
  writeFileSync(join(folder, 'valetkey'), `#!/bin/sh\nexec ${words} "$@"\n`, { mode: 0o755 });
}

/** What an answer must look like. */
export function patternOf(expected: string): RegExp {
  const literal = expected
    .replace(/app_7k2mq9x4c0d8e1f3/g, 'app_…')
    .split('…')
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${literal.join('[^]*')}`);
}

/** Resolves when a text came. */
export function appears(stream: NodeJS.ReadableStream, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let seen = '';
    stream.on('data', (chunk) => {
      seen += chunk;
      if (seen.includes(text)) resolve();
    });
    stream.once('end', () => reject(new Error(`the service ended: ${seen}`)));
  });
}
