/** `GET /v1/grants`, and the whole life of one. */
import { findGrantLife } from '../../../oauth/connected-apps/grant-life.ts';
import { grantJson, grantLifeJson } from '../../../operator/json/grant.ts';
import type { Service } from '../../service/service.ts';
import { notFound } from './api-error.ts';
import { listOperation, showOperation, textParameter } from './described-parts.ts';
import { listBody } from './list-body.ts';
import { readOneOf, readPage, withoutUndefined } from './query.ts';
import { type Route, route } from './route.ts';
import { GRANT, GRANT_LIFE } from './schemas.ts';

const STATES = ['issued', 'active', 'expired', 'revoked'] as const;

const LIST = listOperation(
  'grants',
  'listGrants',
  'Grants, newest first; with `user` alone by app',
  GRANT,
  [
    textParameter('client', 'Only grants for the app with this ID.'),
    textParameter('user', 'Only grants of the user with this ID.'),
    textParameter('state', 'Only grants in this state.', { enum: STATES }),
  ],
  'Grants of a deleted app or user are not listed.',
);
const SHOW = showOperation('grants', 'showGrant', 'The whole life of one grant', GRANT_LIFE);

/** Returns the routes that read grants. */
export function readingGrants(service: Service): Route[] {
  const { lists, store } = service.operatorApi;
  return [
    route('GET', '/grants', 'grants.list', LIST, async ({ query }) => {
      const { client, user, state, ...page } = query;
      const status = state === undefined ? undefined : readOneOf('state', STATES, state);
      const asked = withoutUndefined({ clientId: client, resourceOwnerId: user, status });
      const now = service.now();
      return listBody(await lists.grants(asked, readPage(page)), (grant) => grantJson(grant, now));
    }),
    route('GET', '/grants/:id', 'grants.show', SHOW, async ({ id }) => {
      const life = await findGrantLife(store, id);
      if (!life) throw notFound('grant');
      return grantLifeJson(life, service.now());
    }),
  ];
}
