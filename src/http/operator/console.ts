/** The operators' pages. */
import cookie from '@fastify/cookie';
import type { FastifyInstance } from 'fastify';
import { AccessEnded } from '../../oauth/trail/audit.ts';
import { requireSingleCookies } from '../checks/repeated-headers.ts';
import type { Service } from '../service/service.ts';
import { addApp } from './console/apps/app.ts';
import { addAppFailures } from './console/apps/app-failures.ts';
import { addAppForms } from './console/apps/app-form.ts';
import { addApps } from './console/apps/apps.ts';
import { makeConsolePages } from './console/console-pages.ts';
import type { ConsoleParts } from './console/console-parts.ts';
import { ConsoleRoutes } from './console/console-routes.ts';
import { ConsoleSessions } from './console/console-session.ts';
import { addEvents } from './console/investigation/events.ts';
import { addLeaked } from './console/investigation/leaked.ts';
import { addHealth } from './console/now/health.ts';
import { addNow } from './console/now/now.ts';
import { addOperators } from './console/operators/operators.ts';
import { addOwn } from './console/operators/own-passkeys-and-sessions.ts';
import { addGrants } from './console/people/grants.ts';
import { addPeople } from './console/people/people.ts';
import { addPerson } from './console/people/person.ts';
import { addRegistrations } from './console/registrations/registrations.ts';
import { addGuard } from './console/sign-in/guard.ts';
import { addConsoleSignIn } from './console/sign-in/sign-in.ts';

/** Adds the pages' routes to the operators' server; in a plugin of its own, since only pages have cookies. */
export async function addConsole(app: FastifyInstance, service: Service): Promise<void> {
  await app.register(async (part) => {
    await part.register(cookie);
    const { operators } = service;
    const pages = makeConsolePages(service);
    const sessions = new ConsoleSessions(service);
    requireSingleCookies(part, pages, sessions);
    const shared = { service, operators, pages, sessions };
    const parts: ConsoleParts = { ...shared, ...addGuard(part, shared) };
    part.setErrorHandler((error, _request, reply) => {
      if (!(error instanceof AccessEnded)) throw error;
      return pages.sendProblem(reply, 403, { kind: 'access_ended' });
    });
    for (const file of pages.files)
      part.get(
        file.path,
        { config: { answers: pages.answers, limit: 'public', mayBePlain: true } },
        (_request, reply) => pages.sendFile(reply, file),
      );
    addConsoleSignIn(part, parts);
    addOwn(part, parts);
    const routes = new ConsoleRoutes(part, parts);
    addOperators(routes, parts);
    addEvents(routes, service);
    addLeaked(routes, service);
    addRegistrations(routes, service);
    addNow(routes, parts);
    addHealth(routes, service);
    addApps(routes, service);
    addAppForms(routes, service);
    addApp(routes, service);
    addAppFailures(routes, service);
    addPeople(routes, service);
    addPerson(routes, service);
    addGrants(routes, service);
  });
}
