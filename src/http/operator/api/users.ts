/** `GET /v1/users`, and one user. */
import { shownUserJson, usedUserJson } from '../../../operator/json/user.ts';
import type { UserAsked } from '../../../operator/lists/user-pages.ts';
import { findShownUser } from '../../../operator/lists/user-with-uses.ts';
import type { Service } from '../../service/service.ts';
import { notFound } from './api-error.ts';
import { listOperation, showOperation, textParameter } from './described-parts.ts';
import { listBody } from './list-body.ts';
import { invalidParameter, type Query, readPage, withoutUndefined } from './query.ts';
import { type Route, route } from './route.ts';
import { SHOWN_USER, USER } from './schemas.ts';

const LIST = listOperation(
  'users',
  'listUsers',
  'Users, newest first; by ID with `email` or `username`',
  USER,
  [
    textParameter('id', 'Only the user with this ID.'),
    textParameter('email', 'Only users with this email address; several may share one.'),
    textParameter('username', 'Only users with this user name.'),
    textParameter('provider', 'Only the user with this `subject` at this product.'),
    textParameter('subject', 'The ID of a user at `provider`.'),
  ],
  'Every value is exact.',
);
const SHOW = showOperation('users', 'showUser', 'One user, with the identities at products', SHOWN_USER);

/** Returns the routes that read users. */
export function readingUsers({ operatorApi }: Service): Route[] {
  const { lists, store } = operatorApi;
  return [
    route('GET', '/users', 'users.list', LIST, async ({ query }) => {
      return listBody(await lists.users(askedIn(query), readPage(query)), usedUserJson);
    }),
    route('GET', '/users/:id', 'users.show', SHOW, async ({ id }) => {
      const user = await findShownUser(store, id);
      if (!user) throw notFound('user');
      return shownUserJson(user, user.identities);
    }),
  ];
}

function askedIn({ id, email, username, provider, subject }: Query): UserAsked {
  if ((provider === undefined) !== (subject === undefined))
    throw invalidParameter(
      provider === undefined ? 'provider' : 'subject',
      'is required: a user of a product has both',
    );
  const identity = provider === undefined || subject === undefined ? undefined : { providerId: provider, subject };
  return withoutUndefined({ id, email, username, identity });
}
