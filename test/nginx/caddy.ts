/** A real Caddy with the configuration under deploy/. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Lifetime } from '../support/service.ts';
import { untilListening } from './nginx.ts';

const CADDY = '/usr/bin/caddy';

/** Whether Caddy is installed here. */
export function isCaddyThere(): boolean {
  return spawnSync(CADDY, ['version'], { stdio: 'ignore' }).status === 0;
}

/** Starts Caddy with a configuration; resolves when it answers at `url`. It ends with the test. */
export async function runCaddy(t: Lifetime, url: string, configuration: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'valetkey-caddy-'));
  const file = join(folder, 'Caddyfile');
  writeFileSync(file, `{\n\tadmin off\n}\n${configuration}`);
  const env = { HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  const child = spawn(CADDY, ['run', '--config', file, '--adapter', 'caddyfile'], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const said = text(child.stderr);
  t.after(async () => {
    const ended = once(child, 'exit');
    if (child.exitCode === null && child.kill('SIGTERM')) await ended;
    rmSync(folder, { recursive: true, force: true });
  });
  await untilListening(child, url).catch(async () => {
    child.kill('SIGKILL');
    throw new Error(`Caddy: ${await said}`);
  });
}
