/** The operators' address: the API below `/v1`, and the console's pages. Nothing of it is served at other addresses. */
import type { FastifyInstance } from 'fastify';
import type { FallbackAnswers } from '../answer/send-problem.ts';
import { acceptsHtml, likeness, pathOf } from '../checks/unknown-addresses.ts';
import type { Service } from '../service/service.ts';
import { operatorAnswers } from './api/api-error.ts';
import { addOperatorApi } from './api.ts';
import { makeConsolePages } from './console/console-pages.ts';
import { addConsole } from './console.ts';

/** Adds the operators' API and console to their server. */
export async function addOperatorFace(app: FastifyInstance, service: Service): Promise<void> {
  await addOperatorApi(app, service);
  await addConsole(app, service);
}

/** Returns the answers of the operators' server to addresses without a route: a page where a browser goes to a page, or else JSON. */
export function operatorFallback(service: Service): FallbackAnswers {
  const { answers } = makeConsolePages(service);
  return (request) => {
    const isForPrograms = /^\/(v1(\/|$)|openapi\.json)/.test(likeness(pathOf(request)));
    return isForPrograms || !acceptsHtml(request) ? operatorAnswers : answers;
  };
}
