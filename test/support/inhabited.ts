/** The program as a process, with somebody signed in and an app. */
import assert from 'node:assert/strict';
import { Browser } from './browser.ts';
import { signIn, type TestClient } from './flow.ts';
import { ProgramOnDisk } from './program.ts';
import { type Lifetime, PASSWORD, REDIRECT_URI, type TestService } from './service.ts';

/** A running program with Ada, signed in, and an app; the variables are for the service. `prepare` comes before its start. */
export async function inhabited(
  t: Lifetime,
  variables: Record<string, string> = {},
  prepare: (program: ProgramOnDisk) => Promise<void> = async () => {},
) {
  const program = await ProgramOnDisk.make(t);
  await prepare(program);
  const serving = await program.serve(variables);
  const user = ['user', 'add', '--email', 'ada@example.com', '--name', 'Ada Example', '--password-stdin'];
  const [registered] = await Promise.all([
    program.json(['client', 'register', '--name', 'Test App', '--redirect-uri', REDIRECT_URI]),
    program.json(user, `${PASSWORD}\n`),
  ]);
  const client: TestClient = {
    clientId: String(registered['client_id']),
    clientSecret: String(registered['client_secret']),
  };
  const service = program as Pick<ProgramOnDisk, 'appUrl' | 'apiUrl'> as TestService;
  const browser = new Browser();
  assert.equal((await signIn(service, browser)).status, 303);
  return { program, serving, service, client, browser };
}
