/** The routes about secrets of an app, an API or a product: making one, ending one, handing over. */
import type { Actor } from '../../../oauth/trail/audit.ts';
import type { Act } from '../../../operator/access/rights.ts';
import type { HandOverKind } from '../../../operator/hand-over/hand-over.ts';
import { madeHandOverJson } from '../../../operator/json/hand-over.ts';
import { findSecretsJson } from '../../../operator/json/secret.ts';
import type { RegisteredRow, Registry } from '../../../operator/registration/registry.ts';
import { endingSecret, type WhichSecret } from '../../../operator/secrets/secret-rotation.ts';
import type { ObjectSchema } from '../../json/operation.ts';
import type { Service } from '../../service/service.ts';
import { findOne, type Noun } from '../api/nouns.ts';
import { type Route, route } from '../api/route.ts';
import { type Changes, isDryRun, takesNothing, wouldEnd } from './change.ts';
import { changing } from './described-changes.ts';
import { newHandOver, newSecret, SECRETS_TO_END } from './schemas.ts';

/** A kind of registrations with secrets. */
export type Secretive<Row extends RegisteredRow & Values, Values> = {
  readonly path: 'clients' | 'resource-servers' | 'identity-providers';
  /** Names of operations end with this. */
  readonly title: 'Client' | 'ResourceServer' | 'IdentityProvider';
  readonly noun: Noun<Row, HandOverKind>;
  readonly schema: ObjectSchema;
  /** The members with the id and the secret. */
  readonly members: readonly [id: string, secret: string];
  readonly registry: Registry<HandOverKind, Row, Values>;
};

/** Returns the routes about secrets of a kind of registrations. */
export function secretRoutes<Row extends RegisteredRow & Values, Values>(
  { operatorApi: { handOvers, secretUses } }: Service,
  changes: Changes,
  { path, title, noun, schema, members: [idName, secretName], registry }: Secretive<Row, Values>,
): Route[] {
  const act = (name: 'make-secret' | 'retire-secret' | 'hand-over'): Act => `${path}.${name}`;
  const named = (id: string, secret: string | null) => ({ [idName]: id, [secretName]: secret });
  const retiring = (which: WhichSecret): Route => {
    const name = `retire${which === 'older' ? 'Older' : 'Newer'}Secret${title}`;
    const operation = changing(path, name, `End the ${which} secret`, {
      schema,
      hasTag: true,
      wouldEnd: SECRETS_TO_END,
    });
    return route('DELETE', `/${path}/:id/secrets/${which}`, act('retire-secret'), operation, (call) =>
      changes.on(noun, call, async (row, actor) => {
        if (!isDryRun(call)) return noun.json(await registry.retireSecret(row.id, actor, which));
        const ending = endingSecret(row, which);
        return wouldEnd({ secrets: await findSecretsJson(ending ? [ending] : [], secretUses) });
      }),
    );
  };
  const made = { status: 201, takesKey: true } as const;
  const makeSecret = changing(
    path,
    `makeSecret${title}`,
    'Make a second secret; the first one works until it is ended',
    { ...made, schema: newSecret(idName, secretName) },
  );
  const handOver = changing(path, `handOver${title}`, 'Make a one-time address at which the developer makes a secret', {
    ...made,
    schema: newHandOver(idName, secretName),
  });
  return [
    route('POST', `/${path}/:id/secrets`, act('make-secret'), makeSecret, async (call) => {
      takesNothing(call);
      const { id } = await findOne(noun, call.id);
      const make = async (actor: Actor) => named(id, (await registry.rotateSecret(id, actor)).secret);
      return changes.make(call, make, async (made) => named(made, null));
    }),
    retiring('older'),
    retiring('newer'),
    route('POST', `/${path}/:id/hand-over`, act('hand-over'), handOver, async (call) => {
      takesNothing(call);
      const { id } = await findOne(noun, call.id);
      const make = async (actor: Actor) => ({
        ...named(id, null),
        hand_over: madeHandOverJson(await handOvers.make({ kind: noun.noun, id }, actor)),
      });
      return changes.make(call, make, async (made) => ({ ...named(made, null), hand_over: SHOWN_BEFORE }));
    }),
  ];
}

/** A hand-over whose address was shown before. */
export const SHOWN_BEFORE = { pick_up_url: null, expires_at: null };
