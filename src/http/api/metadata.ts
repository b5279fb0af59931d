/** The metadata of the authorization server (RFC 8414) and of the API (RFC 9728), by which clients configure themselves. */
import type { FastifyInstance, FastifyReply } from 'fastify';
import { ASSERTION_ALGORITHMS } from '../../oauth/clients/public-key.ts';
import { DEVICE_GRANT_TYPE } from '../../oauth/grants/device-grant.ts';
import { isOpenIdHabit, type ScopeDefinition } from '../../oauth/grants/scope.ts';
import { addPreflight } from '../checks/cross-origin.ts';
import { readableBy } from '../json/cross-origin-answers.ts';
import { apiAnswers, oauthAnswers } from '../json/json-answers.ts';
import { answer, namedObject, type Operation, optional, PUBLIC, problems, type Schema } from '../json/operation.ts';
import { OPENID_CONFIGURATION_PATH, RESOURCE_METADATA_PATH, STANDARD_PATHS } from '../service/paths.ts';
import type { Service } from '../service/service.ts';

const SECRET_METHODS = ['client_secret_basic', 'client_secret_post'];
const CLIENT_METHODS = [...SECRET_METHODS, 'private_key_jwt', 'none'];
/** Sent only while a client is registered by a metadata document: no other document is accepted. */
const DOCUMENTS = { client_id_metadata_document_supported: true };

/**
 * Adds the authorization server's metadata to the app's address; also at the path of OpenID Connect Discovery,
 * because some clients look only there and stop at a 404 (RFC 8414 §5).
 */
export function addServerMetadata(app: FastifyInstance, service: Service): void {
  const plain = cachedByScopes((scopes) => serverMetadata(service, scopes));
  const withDocuments = cachedByScopes((scopes) => ({ ...serverMetadata(service, scopes), ...DOCUMENTS }));
  /**
   * Asks each time: another instance or a command may have registered the first client with a document, or paused
   * the last.
   */
  const send = async (reply: FastifyReply) => {
    const [scopes, hasDocuments] = await Promise.all([
      service.scopes.listScopes(),
      service.clients.hasDocumentClient(),
    ]);
    return sendMetadata(reply, (hasDocuments ? withDocuments : plain)(scopes));
  };
  for (const [path, operation] of [
    [STANDARD_PATHS.metadata, SERVER],
    [OPENID_CONFIGURATION_PATH, OPENID_CONFIGURATION],
  ] as const) {
    app.get(
      path,
      { config: { answers: oauthAnswers, operation, limit: 'public', mayBePlain: true, isForAnyOrigin: true } },
      async (_request, reply) => send(reply),
    );
    addPreflight(app, path, 'GET');
  }
}

/** Adds the API's metadata to its address. */
export function addResourceMetadata(app: FastifyInstance, service: Service): void {
  const bytesFor = cachedByScopes((scopes) => resourceMetadata(service, scopes));
  app.get(
    RESOURCE_METADATA_PATH,
    { config: { answers: apiAnswers, operation: RESOURCE, limit: 'public', mayBePlain: true, isForAnyOrigin: true } },
    async (_request, reply) => sendMetadata(reply, bytesFor(await service.scopes.listScopes())),
  );
  addPreflight(app, RESOURCE_METADATA_PATH, 'GET');
}

/** Caches a document until the names of the scopes change. Nothing else in the document changes. */
function cachedByScopes(
  make: (scopes: readonly ScopeDefinition[]) => object,
): (scopes: readonly ScopeDefinition[]) => Buffer {
  let cached: { readonly names: string; readonly bytes: Buffer } | null = null;
  return (scopes) => {
    const names = scopes.map(({ name }) => name).join(' ');
    if (cached?.names !== names) cached = { names, bytes: documentBytes(make(scopes)) };
    return cached.bytes;
  };
}

/** RFC 9728 §2. */
function resourceMetadata({ appUrl, apiUrl, brand, paths }: Service, scopes: readonly ScopeDefinition[]): object {
  return {
    resource: apiUrl,
    authorization_servers: [appUrl],
    ...scopesSupported(scopes),
    bearer_methods_supported: ['header'],
    resource_name: brand.productName,
    resource_documentation: appUrl + paths.developers,
  };
}

/** RFC 8414 §2, RFC 8628 §4, RFC 9126 §5, RFC 9207 §3. */
function serverMetadata({ appUrl, apiUrl, paths }: Service, scopes: readonly ScopeDefinition[]): object {
  const authentication = (endpoint: string, methods: readonly string[]) => ({
    [`${endpoint}_auth_methods_supported`]: methods,
    ...(methods.includes('private_key_jwt')
      ? { [`${endpoint}_auth_signing_alg_values_supported`]: ASSERTION_ALGORITHMS }
      : {}),
  });
  return {
    issuer: appUrl,
    authorization_endpoint: appUrl + STANDARD_PATHS.authorize,
    token_endpoint: appUrl + STANDARD_PATHS.token,
    ...authentication('token_endpoint', CLIENT_METHODS),
    revocation_endpoint: appUrl + STANDARD_PATHS.revoke,
    ...authentication('revocation_endpoint', CLIENT_METHODS),
    introspection_endpoint: appUrl + STANDARD_PATHS.introspect,
    ...authentication('introspection_endpoint', SECRET_METHODS),
    pushed_authorization_request_endpoint: appUrl + STANDARD_PATHS.pushedAuthorizationRequest,
    require_pushed_authorization_requests: false,
    device_authorization_endpoint: appUrl + STANDARD_PATHS.deviceAuthorization,
    ...scopesSupported(scopes),
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token', DEVICE_GRANT_TYPE],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    prompt_values_supported: ['none', 'login', 'consent', 'select_account'],
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
    protected_resources: [apiUrl],
    service_documentation: appUrl + paths.developers,
    ui_locales_supported: ['en', 'ar'],
  };
}

/**
 * RFC 8414 §3.2 omits empty lists. Names of OpenID Connect are never listed: clients would request them, and expect
 * an ID token.
 */
function scopesSupported(scopes: readonly ScopeDefinition[]): object {
  const names = scopes.map(({ name }) => name).filter((name) => !isOpenIdHabit(name));
  return names.length === 0 ? {} : { scopes_supported: names };
}

/** Serializes a document once, so that all pending answers share its bytes. */
export function documentBytes(document: object): Buffer {
  return Buffer.from(JSON.stringify(document));
}

/** Sends a public document that caches may keep for five minutes. */
export function sendMetadata(reply: FastifyReply, document: Buffer): FastifyReply {
  return reply
    .header('Content-Type', 'application/json')
    .header('Cache-Control', 'public, max-age=300')
    .header('X-Content-Type-Options', 'nosniff')
    .send(document);
}

const ADDRESS: Schema = { type: 'string', format: 'uri' };
const NAMES: Schema = { type: 'array', items: { type: 'string' }, minItems: 1 };
const SERVER_METADATA = namedObject('ServerMetadata', {
  issuer: ADDRESS,
  authorization_endpoint: ADDRESS,
  token_endpoint: ADDRESS,
  token_endpoint_auth_methods_supported: NAMES,
  token_endpoint_auth_signing_alg_values_supported: NAMES,
  revocation_endpoint: ADDRESS,
  revocation_endpoint_auth_methods_supported: NAMES,
  revocation_endpoint_auth_signing_alg_values_supported: NAMES,
  introspection_endpoint: ADDRESS,
  introspection_endpoint_auth_methods_supported: NAMES,
  pushed_authorization_request_endpoint: ADDRESS,
  require_pushed_authorization_requests: { const: false },
  device_authorization_endpoint: ADDRESS,
  scopes_supported: optional(NAMES),
  response_types_supported: NAMES,
  response_modes_supported: NAMES,
  grant_types_supported: NAMES,
  code_challenge_methods_supported: NAMES,
  authorization_response_iss_parameter_supported: { const: true },
  client_id_metadata_document_supported: optional({ const: true }),
  prompt_values_supported: NAMES,
  request_parameter_supported: { const: false },
  request_uri_parameter_supported: { const: false },
  protected_resources: { type: 'array', items: ADDRESS },
  service_documentation: ADDRESS,
  ui_locales_supported: NAMES,
});
const SERVER: Operation = {
  operationId: 'authorizationServerMetadata',
  tags: ['discovery'],
  summary: 'Lists the standard face’s endpoints and features',
  description: 'RFC 8414 §3.2.',
  responses: readableBy('Any', {
    200: answer('The metadata.', SERVER_METADATA, PUBLIC),
    ...problems('OAuth', 'method_not_allowed', 'too_many_requests', 'internal', 'unavailable'),
  }),
};
const OPENID_CONFIGURATION: Operation = {
  ...SERVER,
  operationId: 'openidConfiguration',
  summary: 'The same document, at the path of OpenID Connect Discovery',
  description:
    'RFC 8414 §5, for clients that look only here. OpenID Connect is not supported: there are no keys and no ID tokens.',
};
const RESOURCE_METADATA = namedObject('ResourceMetadata', {
  resource: ADDRESS,
  authorization_servers: { type: 'array', items: ADDRESS },
  scopes_supported: optional(NAMES),
  bearer_methods_supported: { const: ['header'] },
  resource_name: { type: 'string' },
  resource_documentation: ADDRESS,
});
const RESOURCE: Operation = {
  operationId: 'protectedResourceMetadata',
  tags: ['discovery'],
  summary: 'Names the authorization server whose tokens the API accepts',
  description: 'RFC 9728 §3.2.',
  responses: readableBy('Any', {
    200: answer('The metadata.', RESOURCE_METADATA, PUBLIC),
    ...problems('Api', 'method_not_allowed', 'too_many_requests', 'internal', 'unavailable'),
  }),
};
