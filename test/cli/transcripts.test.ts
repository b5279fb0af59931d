import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, test } from 'node:test';
import type { AccountStore } from '../../src/accounts/people/store.ts';
import type { Installation } from '../../src/cli/command/context.ts';
import { makeCommandContext } from '../../src/main.ts';
import { grantedResource } from '../../src/oauth/protocol/authorization-request.ts';
import type { AuthorizationServer } from '../../src/oauth/protocol/authorization-server.ts';
import { runCommand } from '../support/command.ts';
import { commandsOfProgram } from '../support/commands.ts';
import { freePort } from '../support/service.ts';
import { pressed, signedIn } from '../support/signed-in.ts';
import { playTranscript, type RunCommand } from './transcript.ts';

const transcripts = new URL('transcripts/', import.meta.url);

/** They run until they are ended: the transcript of the README runs them. */
const RUN_ON = ['demo', 'serve'];

test('each command of the program stands in a transcript', async () => {
  const texts = readdirSync(transcripts).map((file) => readFileSync(new URL(file, transcripts), 'utf8'));
  const isPlayed = (name: string) =>
    texts.some((text) => new RegExp(`^\\$ valetkey ${name}(?![a-z-])`, 'm').test(text));
  const commands = [...(await commandsOfProgram()).keys()].filter((name) => !RUN_ON.includes(name));
  assert.deepEqual(
    commands.filter((name) => !isPlayed(name)),
    [],
  );
});

/** Of a service that somebody may run on this machine the doctor would tell too. */
async function unusedAddresses(): Promise<Record<string, string>> {
  const [app, api] = [await freePort(), await freePort()];
  return { VALETKEY_APP_URL: `http://localhost:${app}`, VALETKEY_API_URL: `http://localhost:${api}` };
}

describe('the command line, as transcripts', () => {
  for (const file of readdirSync(transcripts)) {
    it(file.replace('.txt', ''), async () => {
      const folder = await mkdtemp(join(tmpdir(), 'valetkey-cli-'));
      const environment = {
        VALETKEY_DATABASE_URL: `sqlite:${join(folder, 'valetkey.db')}`,
        VALETKEY_KEYS_FILE: join(folder, 'keys'),
      };
      if (file === 'password-left-out.txt') Object.assign(environment, { VALETKEY_SIGN_IN_METHODS: 'product' });
      if (file === 'operators.txt') Object.assign(environment, { VALETKEY_OPERATOR_URL: 'http://localhost:3002' });
      if (file === 'doctor.txt') Object.assign(environment, await unusedAddresses());
      const before = process.cwd();
      process.chdir(folder);
      const programs: Record<string, RunCommand> = {
        valetkey: (words, stdin) => run(environment, words, stdin),
        allow: (words) => allow(environment, words),
        file: ([name = ''], content) => writeFile(name, content).then(() => ''),
      };
      try {
        const text = await readFile(new URL(file, transcripts), 'utf8');
        await playTranscript(text, async ([program = '', ...words], stdin) => {
          const runCommand = programs[program];
          assert.ok(runCommand, `a transcript runs no ${program}`);
          return runCommand(words, stdin);
        });
      } finally {
        process.chdir(before);
        await rm(folder, { recursive: true });
      }
    });
  }
});

/** Runs one command, and answers what came back in the form of transcripts. */
async function run(environment: NodeJS.ProcessEnv, words: readonly string[], stdin: string): Promise<string> {
  const { code, stdout, stderr } = await runCommand(words, environment, stdin);
  const exit = code === 0 ? '' : `[exit ${code}]\n`;
  return stdout + stderr.replace(/^(?=.)/gm, 'stderr: ') + exit;
}

/** `allow CLIENT USER`: what the user does in a browser. */
async function allow(environment: NodeJS.ProcessEnv, [clientId = '', userId = '']: readonly string[]): Promise<string> {
  const installation = await makeCommandContext(environment).open(true);
  const { authorizationServer, clients, audit } = installation as Installation & {
    authorizationServer: AuthorizationServer;
  };
  const client = await clients.show(clientId);
  const location = await authorizationServer.allow(
    {
      kind: 'valid',
      face: 'published',
      client,
      redirectUri: client.redirectUris[0] ?? '',
      state: 'xyz',
      scope: client.scopes.map(({ name }) => name),
      scopes: client.scopes,
      personFields: client.personFields,
      openid: null,
      codeChallenge: null,
      ...grantedResource(client, null),
      prompt: [],
      loginHint: null,
      maxAge: null,
      uiLocales: null,
      requestUri: null,
      issuer: null,
    },
    await signedIn(audit as unknown as AccountStore, userId, Date.now()),
    pressed(),
    { source: '127.0.0.1', requestId: 'transcript' },
  );
  await installation.close();
  assert.ok(location);
  return '';
}
