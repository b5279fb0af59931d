/** A service on a database file, for tests that look into it from outside. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Lifetime, startTestService, type TestService } from './service.ts';

/** Starts a service on a database file of its own, which is removed when the test ends; `path` is the file's. */
export async function startOnFile(
  t: Lifetime,
  variables: Record<string, string> = {},
): Promise<{ service: TestService; path: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'valetkey-test-'));
  const path = join(folder, 'valetkey.db');
  const service = await startTestService(t, {
    VALETKEY_DATABASE_URL: `sqlite:${path}`,
    VALETKEY_KEYS_FILE: join(folder, 'keys'),
    ...variables,
  });
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return { service, path };
}
