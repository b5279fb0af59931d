/** `{operator_url}/openapi.json`: an OpenAPI 3.1 document of the operators' API, built from its routes. */
import type { FastifyInstance } from 'fastify';
import { sendMetadata } from '../../api/metadata.ts';
import { ApiDescription } from '../../api/openapi.ts';
import { answer, type Operation, type OperatorTag, PUBLIC } from '../../json/operation.ts';
import type { Service } from '../../service/service.ts';
import { operatorAnswers } from './api-error.ts';
import { refusals } from './described-parts.ts';

/** Version of the API, not of the program. */
const VERSION = '1.0.0';

/** The path of the document. */
const OPERATOR_OPENAPI_PATH = '/openapi.json';

const DESCRIPTION = `Everything that an operator does, for programs. Send a key of an operator as a Bearer token; a key may do what both \
its rights and the operator's role allow. Bodies are JSON objects in UTF-8 of at most 64 KiB. Answers are the objects that the \
commands print with --json. An ID in a path is one percent-encoded segment.`;

const TAGS: Readonly<Record<OperatorTag, string>> = {
  clients: 'Apps.',
  'resource-servers': 'APIs that check tokens.',
  'identity-providers': 'Products that sign in their own users.',
  scopes: 'Scopes, in words.',
  users: 'Users.',
  grants: 'What users allowed.',
  'audit-events': 'The audit trail.',
  identify: 'Credentials that somebody found.',
  status: 'The state of the installation.',
  description: 'This document.',
};

const OPERATION: Operation = {
  operationId: 'openApi',
  tags: ['description'],
  summary: 'This document',
  responses: {
    200: answer('OpenAPI 3.1.', { type: 'object', required: ['openapi', 'info', 'paths'] }, PUBLIC),
    ...refusals('method_not_allowed', 'too_many_requests'),
  },
};

/** Adds the document. Returns the description, which collects the operations of the API's part. */
export function addDescription(app: FastifyInstance, { operatorUrl, brand }: Service): ApiDescription {
  const description = new ApiDescription({
    url: operatorUrl as string,
    title: `${brand.productName}: operators`,
    version: VERSION,
    description: DESCRIPTION,
    tags: TAGS,
    externalDocs: null,
    securitySchemes: {
      operatorKey: { type: 'http', scheme: 'bearer', description: 'A key of an operator (RFC 6750 §2.1).' },
    },
  });
  description.watch(app, operatorUrl as string);
  const config = { answers: operatorAnswers, operation: OPERATION, limit: 'public' } as const;
  app.get(OPERATOR_OPENAPI_PATH, { config }, async (_request, reply) => sendMetadata(reply, description.bytes));
  return description;
}
