/** The operators' pages. */
import cookie from '@fastify/cookie';
import type { FastifyInstance } from 'fastify';
import { AccessEnded } from '../../../oauth/trail/audit.ts';
import { requireSingleCookies } from '../../repeated-headers.ts';
import type { Service } from '../../service.ts';
import { addApp } from './app.ts';
import { addAppFailures } from './app-failures.ts';
import { addAppForms } from './app-form.ts';
import { addApps } from './apps.ts';
import { makeConsolePages } from './console-pages.ts';
import type { ConsoleParts } from './console-parts.ts';
import { ConsoleRoutes } from './console-routes.ts';
import { ConsoleSessions } from './console-session.ts';
import { addGuard } from './guard.ts';
import { addEvents } from './investigation/events.ts';
import { addLeaked } from './investigation/leaked.ts';
import { addHealth } from './now/health.ts';
import { addNow } from './now/now.ts';
import { addOperators } from './operators.ts';
import { addOwn } from './own.ts';
import { addGrants } from './people/grants.ts';
import { addPeople } from './people/people.ts';
import { addPerson } from './people/person.ts';
import { addRegistrations } from './registrations/registrations.ts';
import { addConsoleSignIn } from './sign-in.ts';

/** Adds the pages' routes to the operators' server; in a plugin of its own, since only pages have cookies. */
export async function addConsole(app: FastifyInstance, service: Service): Promise<void> {
  await app.register(async (part) => {
    await part.register(cookie);
    const { operators } = service;
    const [pages, sessions] = [makeConsolePages(service), new ConsoleSessions(service)];
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
