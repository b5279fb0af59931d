/** `identify`: the kind and the owner of a found credential. */
import { OperatorError } from '../../oauth/error.ts';
import { type IdentifiedJson, identifiedJson } from '../../operator/json/identified.ts';
import { MAX_CREDENTIAL_LENGTH } from '../../operator/leaks/identify-credential.ts';
import type { CliCommand } from '../command/command.ts';
import type { CommandResult, CommandRun } from '../command/command-run.ts';
import type { CommandContext } from '../command/context.ts';
import { ask } from '../input/terminal-input.ts';
import { card } from '../output/table.ts';
import { exactTime } from '../output/time.ts';

/** Adds the command. */
export function addIdentifyCommand(program: CliCommand, run: CommandRun): void {
  program
    .leaf(
      'identify',
      'Identify a found credential or one-time link: its kind, its owner, and if it works. Reads standard input, and stores nothing.',
      ['identify', 'identify < found.txt', 'identify --json < found.txt'],
    )
    .acts(run, async ({ identification }) => {
      const text = await readCredential(run.context);
      const found = await identification.identify(text);
      if (!found) throw new OperatorError(identification.whyUnknown(text));
      return identifiedResult(identifiedJson(found));
    });
}

async function readCredential(context: CommandContext): Promise<string> {
  if (context.stdin.isTTY) return (await ask(context, ['Credential (not shown): '], false)).join('').trim();
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of context.stdin) {
    chunks.push(Buffer.from(chunk));
    length += chunks.at(-1)?.length ?? 0;
    if (length > MAX_CREDENTIAL_LENGTH)
      throw new OperatorError('the input is longer than any credential: give one credential alone');
  }
  return Buffer.concat(chunks).toString().trim();
}

function identifiedResult(json: IdentifiedJson): CommandResult {
  return {
    json,
    text: card([
      ['Kind', json.kind],
      ['Of', `${json.owner_name} (${json.owner_id})`],
      ['User', json.user_id === null ? '' : `${json.user_email ?? 'without an email address'} (${json.user_id})`],
      ['Grant', json.grant_id ?? ''],
      ['Made', json.made_at === null ? '' : exactTime(json.made_at)],
      ['Expires', json.expires_at === null ? '' : exactTime(json.expires_at)],
      ['Works', json.dead_because === null ? 'yes' : `no: ${json.dead_because}`],
    ]),
    note: next(json),
  };
}

/** Returns the command that ends what was found, if it still works. */
function next({ kind, alive, owner_kind, owner_id: owner, grant_id: grant }: IdentifiedJson): string {
  if (!alive) return 'It gives no access now.';
  if (grant !== null) return `Next: "valetkey grant revoke ${grant}" ends it, with every token of the same grant.`;
  const group = GROUPS[owner_kind];
  switch (kind) {
    case 'key of an operator':
      return `Next: "valetkey operator key list ${owner}" shows the IDs of the keys, and "operator key end" ends one.`;
    case 'device code':
      return 'It gives no access until a user allows it, and expires by itself.';
    case 'pick-up link':
      return `Next: "valetkey ${group} rotate-secret ${owner} --hand-over" makes a new link, which ends this one.`;
    case 'invitation link':
      return `Next: "valetkey user invite ${owner}" makes a new link, which ends this one; "user disable" ends it alone.`;
    case 'enrollment link':
      return `Next: "valetkey operator end-sessions ${owner}" ends it, and all sessions; "operator reset" makes a new link, and ends passkeys too.`;
    case 'sign-in link':
      return `Next: "valetkey operator end-sessions ${owner}" ends it, and all sessions.`;
    default:
      return `Next: "valetkey ${group} rotate-secret ${owner}" makes a new secret; then retire this one.`;
  }
}

const GROUPS = {
  client: 'client',
  resource_server: 'resource-server',
  identity_provider: 'identity-provider',
  user: 'user',
  operator: 'operator',
} as const satisfies Record<IdentifiedJson['owner_kind'], string>;
