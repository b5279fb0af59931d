/** The operators' API, `{operator_url}/v1/…`: its routes, and their description. */
import type { FastifyInstance } from 'fastify';
import { readJsonMembers } from '../provider/requests.ts';
import type { Service } from '../service/service.ts';
import { apiErrorOf, sendApiError } from './api/api-error.ts';
import { readingAuditEvents } from './api/audit-events.ts';
import { readingClients } from './api/clients.ts';
import { addDescription } from './api/description.ts';
import { readingGrants } from './api/grants.ts';
import { identifying } from './api/identify.ts';
import { addKeyGuard } from './api/key-guard.ts';
import { readingRegistrations } from './api/registrations.ts';
import { addRoutes, type Route } from './api/route.ts';
import { showingStatus } from './api/status.ts';
import { readingUsers } from './api/users.ts';
import { changingClients } from './changes/clients.ts';
import { changingIdentityProviders, changingResourceServers, changingScopes } from './changes/registrations.ts';
import { changingUsers, endingGrants } from './changes/users.ts';

/** Adds the API's routes to the operators' server. */
export async function addOperatorApi(app: FastifyInstance, service: Service): Promise<void> {
  await app.register(async (part) => {
    readJsonMembers(part);
    part.setErrorHandler((error, request, reply) => {
      const known = apiErrorOf(error);
      // The server answers and logs every other error.
      if (!known) throw error;
      return sendApiError(request, reply, known);
    });
    const description = addDescription(app, service);
    description.watch(part, service.operatorUrl as string);
    addRoutes(part, operatorRoutes(service), addKeyGuard(part, service));
  });
}

/** Returns all routes below `/v1`. */
export function operatorRoutes(service: Service): Route[] {
  return [
    ...readingClients(service),
    ...readingRegistrations(service),
    ...readingUsers(service),
    ...readingGrants(service),
    ...changingClients(service),
    ...changingResourceServers(service),
    ...changingIdentityProviders(service),
    ...changingScopes(service),
    ...changingUsers(service),
    ...endingGrants(service),
    ...readingAuditEvents(service),
    ...identifying(service),
    ...showingStatus(service),
  ];
}
