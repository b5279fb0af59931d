/** `/api/auth/oauth/users` and below: translates identity providers' requests about their users. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Account } from '../../accounts/people/account.ts';
import type { ProvenProvider } from '../../accounts/people/identity-provider.ts';
import { isCleanText, type Members, readSubject } from '../../accounts/people/profile.ts';
import { type DisconnectPage, MAX_DISCONNECTS } from '../../accounts/providers/disconnects.ts';
import type { RequestOrigin } from '../../oauth/clients/client-authenticator.ts';
import { invalidRequest, Refusal } from '../../oauth/error.ts';
import { Parameters } from '../../oauth/parameters.ts';
import { dateTime } from '../json/date-time.ts';
import { sendDone, sendJson } from '../json/json-answers.ts';
import type { Operation } from '../json/operation.ts';
import { formOf } from '../request/form.ts';
import { originOf } from '../request/origin.ts';
import { PROVIDER_PATHS } from '../service/paths.ts';
import type { Service } from '../service/service.ts';
import { listConnections, MAX_CONNECTIONS, readConnection } from './connections.ts';
import {
  authenticateProvider,
  isQuery,
  membersOf,
  providerAnswers,
  readJsonMembers,
  sendProviderRefusal,
} from './requests.ts';
import { USERS } from './users-operations.ts';

/** Operations that end access. */
const ENDINGS: ReadonlySet<Operation> = new Set([USERS.disable, USERS.delete, USERS.endSessions, USERS.disconnect]);

/** Handles a call of an authenticated provider. Returns the answer's body, or null for none. */
type Call = (provider: ProvenProvider, asked: Members, origin: RequestOrigin) => Promise<object | null | Refusal>;

/** Handles a call about one subject, which is read first. */
type SubjectCall = (
  provider: ProvenProvider,
  subject: string,
  origin: RequestOrigin,
  asked: Members,
) => Promise<object | null | Refusal>;

/** Adds the endpoints. */
export async function addProviderUsers(app: FastifyInstance, service: Service): Promise<void> {
  const users = service.providerUsers;
  await app.register(async (part) => {
    readJsonMembers(part);
    const add = (method: 'GET' | 'PUT' | 'POST', path: string, operation: Operation, call: Call) =>
      part.route({
        method,
        url: PROVIDER_PATHS.users + path,
        config: { answers: providerAnswers, operation },
        handler: async (request, reply) => {
          const result = await makeCall(service, request, operation, call);
          if (result instanceof Refusal) return sendProviderRefusal(request, reply, result);
          return result ? sendJson(reply, result) : sendDone(reply);
        },
      });
    const addOne = (method: 'GET' | 'POST', path: string, operation: Operation, call: SubjectCall) =>
      add(method, path, operation, async (provider, asked, origin) => {
        const subject = readSubject(asked);
        return subject instanceof Refusal ? subject : call(provider, subject, origin, asked);
      });
    add('PUT', '', USERS.put, (...asked) => users.put(...asked));
    addOne('GET', '', USERS.show, async (provider, subject) => {
      const account = await users.find(provider, subject);
      return account instanceof Refusal ? account : describe(subject, account);
    });
    addOne('POST', '/disable', USERS.disable, (provider, subject, origin) =>
      users.setStatus(provider, subject, 'disabled', origin),
    );
    addOne('POST', '/enable', USERS.enable, (provider, subject, origin) =>
      users.setStatus(provider, subject, 'active', origin),
    );
    addOne('POST', '/delete', USERS.delete, (provider, subject, origin) => users.delete(provider, subject, origin));
    addOne('POST', '/end-sessions', USERS.endSessions, (provider, subject, origin) =>
      users.endSessions(provider, subject, origin),
    );
    addOne('GET', '/connections', USERS.connections, async (provider, subject, _origin, asked) => {
      const limit = readLimit(asked['limit'], MAX_CONNECTIONS);
      if (limit instanceof Refusal) return limit;
      const connected = await users.connections(provider, subject);
      return connected instanceof Refusal ? connected : listConnections(service, connected, asked, limit);
    });
    add('GET', '/disconnects', USERS.disconnects, async (provider, { after, limit }) => {
      const most = readLimit(limit, MAX_DISCONNECTS);
      if (most instanceof Refusal) return most;
      const page = await users.disconnects(provider, after as string | undefined, most);
      return page instanceof Refusal ? page : describeDisconnects(page);
    });
    addOne('POST', '/connections/revoke', USERS.disconnect, async (provider, subject, origin, asked) => {
      const name = readConnection(asked);
      if (name instanceof Refusal) return name;
      if (name) return users.endConnection(provider, subject, name, origin);
      const clientId = readClientId(asked);
      return clientId instanceof Refusal ? clientId : users.disconnect(provider, subject, clientId, origin);
    });
  });
}

/** Authenticates the provider and makes its call, unless it is over its rate limit. */
async function makeCall(
  service: Service,
  request: FastifyRequest,
  operation: Operation,
  call: Call,
): Promise<object | null | Refusal> {
  // In this body, `client_id` is the app's.
  const form = operation === USERS.disconnect ? withoutClientId(membersOf(request)) : formOf(request);
  if (operation === USERS.disconnect && 'client_secret' in membersOf(request))
    return invalidRequest(
      'client_id is the app here: send the credentials of the provider by Basic, or as an assertion',
    );
  const provider = await authenticateProvider(service, request, 'users', form);
  if (provider instanceof Refusal) return provider;
  const refusal = service.providerUsers.countCall(provider, ENDINGS.has(operation) ? 'endings' : 'calls');
  if (refusal) return refusal;
  const asked = isQuery(request) ? readQuery(request, operation) : membersOf(request);
  return asked instanceof Refusal ? asked : call(provider, asked, originOf(request));
}

function withoutClientId(members: Members): Parameters {
  const others = Object.entries(members).filter(([name]) => name !== 'client_id');
  return new Parameters(others.map(([name, value]) => [name, typeof value === 'string' ? value : null]));
}

function readQuery({ query }: FastifyRequest, { parameters = [] }: Operation): Members | Refusal {
  const sent = query as Parameters;
  const names = parameters.map(({ name }) => name);
  const problem = sent.problem(names);
  const value = (name: string) => (name === 'limit' ? sent.getNumber(name) : sent.get(name));
  return problem ? invalidRequest(problem) : Object.fromEntries(names.map((name) => [name, value(name)]));
}

function readLimit(limit: unknown, max: number): number | Refusal {
  if (limit === undefined) return max;
  const most = typeof limit === 'string' && /^[0-9]{1,4}$/.test(limit) ? Number(limit) : 0;
  if (most < 1 || most > max) return invalidRequest(`limit must be a whole number from 1 to ${max}`);
  return most;
}

function readClientId({ client_id }: Members): string | Refusal {
  const isId = typeof client_id === 'string' && client_id !== '' && client_id.length <= 255 && isCleanText(client_id);
  return isId ? client_id : invalidRequest('connection_id, or client_id, must name what ends');
}

function describe(subject: string, account: Account): object {
  const { id, status, email, emailVerified, name, username, avatarUrl } = account;
  return { subject, id, status, email, email_verified: emailVerified, name, username, avatar_url: avatarUrl };
}

function describeDisconnects({ disconnects, next, hasMore }: DisconnectPage): object {
  const told = disconnects.map(({ subject, clientId, reason, at }) => ({
    ...(subject === null ? {} : { subject }),
    ...(clientId === null ? {} : { client_id: clientId }),
    reason,
    at: dateTime(at),
  }));
  return { disconnects: told, next, has_more: hasMore };
}
