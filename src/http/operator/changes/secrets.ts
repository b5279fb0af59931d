/** The routes about secrets of an app, an API or a product: making one, ending one, handing over. */
import type { StoredSecret } from '../../../oauth/keys/secret.ts';
import type { Actor } from '../../../oauth/trail/audit.ts';
import type { Act } from '../../../operator/access/rights.ts';
import type { HandOverKind } from '../../../operator/hand-over/hand-over.ts';
import { madeHandOverJson } from '../../../operator/json/hand-over.ts';
import { findSecretsJson } from '../../../operator/json/secret.ts';
import { endingSecret, type WhichSecret } from '../../../operator/secret-rotation.ts';
import type { ObjectSchema } from '../../api/operation.ts';
import type { Service } from '../../service.ts';
import type { Route } from '../api/route.ts';
import { type Changes, isDryRun, type Noun, takesNothing, wouldEnd } from './change.ts';
import { changing } from './described.ts';
import { newHandOver, newSecret, SECRETS_TO_END } from './schemas.ts';

/** A registration with secrets. */
export type SecretRow = {
  readonly id: string;
  readonly secrets: readonly StoredSecret[];
  readonly keys?: readonly unknown[];
};

/** A kind of registrations with secrets. */
export type Secretive<Row extends SecretRow> = {
  readonly path: 'clients' | 'resource-servers' | 'identity-providers';
  /** Names of operations end with this. */
  readonly title: 'Client' | 'ResourceServer' | 'IdentityProvider';
  readonly noun: Noun<Row> & { readonly noun: HandOverKind };
  readonly schema: ObjectSchema;
  /** The members with the id and the secret. */
  readonly members: readonly [id: string, secret: string];
  rotate(id: string, actor: Actor): Promise<string>;
  retire(id: string, actor: Actor, which: WhichSecret): Promise<Row>;
};

/** Returns the routes about secrets of a kind of registrations. */
export function secretRoutes<Row extends SecretRow>(
  { operatorApi: { handOvers, secretUses } }: Service,
  changes: Changes,
  { path, title, noun, schema, members: [idName, secretName], rotate, retire }: Secretive<Row>,
): Route[] {
  const act = (name: 'make-secret' | 'retire-secret' | 'hand-over'): Act => `${path}.${name}`;
  const named = (id: string, secret: string | null) => ({ [idName]: id, [secretName]: secret });
  const retiring = (which: WhichSecret): Route => ({
    method: 'DELETE',
    path: `/${path}/:id/secrets/${which}`,
    act: act('retire-secret'),
    hasTag: true,
    operation: changing(
      path,
      `retire${which === 'older' ? 'Older' : 'Newer'}Secret${title}`,
      `End the ${which} secret`,
      {
        schema,
        hasTag: true,
        wouldEnd: SECRETS_TO_END,
      },
    ),
    answer: (call) =>
      changes.on(noun, call, async (row, actor) => {
        if (!isDryRun(call)) return noun.json(await retire(row.id, actor, which));
        const ending = endingSecret(row, which);
        return wouldEnd({ secrets: await findSecretsJson(ending ? [ending] : [], secretUses) });
      }),
  });
  return [
    {
      method: 'POST',
      path: `/${path}/:id/secrets`,
      act: act('make-secret'),
      operation: changing(path, `makeSecret${title}`, 'Make a second secret; the first one works until it is ended', {
        ...{ schema: newSecret(idName, secretName), status: 201, takesKey: true },
      }),
      answer: async (call) => {
        takesNothing(call);
        const { id } = await changes.find(noun, call);
        const make = async (actor: Actor) => named(id, await rotate(id, actor));
        return changes.make(call, make, async (made) => named(made, null));
      },
    },
    retiring('older'),
    retiring('newer'),
    {
      method: 'POST',
      path: `/${path}/:id/hand-over`,
      act: act('hand-over'),
      operation: changing(path, `handOver${title}`, 'Make a one-time address at which the developer makes a secret', {
        ...{ schema: newHandOver(idName, secretName), status: 201, takesKey: true },
      }),
      answer: async (call) => {
        takesNothing(call);
        const { id } = await changes.find(noun, call);
        const make = async (actor: Actor) => ({
          ...named(id, null),
          hand_over: madeHandOverJson(await handOvers.make({ kind: noun.noun, id }, actor)),
        });
        return changes.make(call, make, async (made) => ({ ...named(made, null), hand_over: SHOWN_BEFORE }));
      },
    },
  ];
}

/** A hand-over whose address was shown before. */
export const SHOWN_BEFORE = { pick_up_url: null, expires_at: null };
