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
import { OPENID_MEMBERS, openIdMetadata } from './openid.ts';

const SECRET_METHODS = ['client_secret_basic', 'client_secret_post'];
const CLIENT_METHODS = [...SECRET_METHODS, 'private_key_jwt', 'none'];
/** Sent only while a client is registered by a metadata document: no other document is accepted. */
const DOCUMENTS = { client_id_metadata_document_supported: true };

/**
 * Adds the authorization server's metadata to the app's address; also at the path of OpenID Connect Discovery, because some
 * clients look only there and stop at a 404 (RFC 8414 §5). There it becomes OpenID Connect's with the first app with sign-in.
 */
export function addServerMetadata(app: FastifyInstance, service: Service): void {
  for (const [path, operation, isOpenId] of [
    [STANDARD_PATHS.metadata, SERVER, false],
    [OPENID_CONFIGURATION_PATH, OPENID_CONFIGURATION, true],
  ] as const) {
    const bytesFor = cached(({ names, hasDocuments, signsIn }: ServerState) => ({
      ...serverMetadata(service, names),
      ...(hasDocuments ? DOCUMENTS : {}),
      ...(signsIn ? openIdMetadata(service, names) : {}),
    }));
    app.get(
      path,
      { config: { answers: oauthAnswers, operation, limit: 'public', mayBePlain: true, isForAnyOrigin: true } },
      async (_request, reply) => sendMetadata(reply, bytesFor(await stateOf(service, isOpenId))),
    );
    addPreflight(app, path, 'GET');
  }
}

/** The state that the authorization server's metadata depends on. */
type ServerState = { readonly names: readonly string[]; readonly hasDocuments: boolean; readonly signsIn: boolean };

/** Asks each time: another instance or a command may have registered the first such client, or paused the last. */
async function stateOf({ scopes, clients, signingKeys }: Service, isOpenId: boolean): Promise<ServerState> {
  const [defined, hasDocuments, keys] = await Promise.all([
    scopes.listScopes(),
    clients.hasDocumentClient(),
    isOpenId ? signingKeys.published() : [],
  ]);
  return { names: namesIn(defined), hasDocuments, signsIn: keys.length > 0 };
}

/** Adds the API's metadata to its address. */
export function addResourceMetadata(app: FastifyInstance, service: Service): void {
  const bytesFor = cached((names: readonly string[]) => resourceMetadata(service, names));
  app.get(
    RESOURCE_METADATA_PATH,
    { config: { answers: apiAnswers, operation: RESOURCE, limit: 'public', mayBePlain: true, isForAnyOrigin: true } },
    async (_request, reply) => sendMetadata(reply, bytesFor(namesIn(await service.scopes.listScopes()))),
  );
  addPreflight(app, RESOURCE_METADATA_PATH, 'GET');
}

/** Caches a document until the state that it depends on changes. */
function cached<State>(make: (state: State) => object): (state: State) => Buffer {
  let kept: { readonly state: string; readonly bytes: Buffer } | null = null;
  return (given) => {
    const state = JSON.stringify(given);
    if (kept?.state !== state) kept = { state, bytes: documentBytes(make(given)) };
    return kept.bytes;
  };
}

/** RFC 9728 §2. */
function resourceMetadata({ appUrl, apiUrl, brand, paths }: Service, names: readonly string[]): object {
  return {
    resource: apiUrl,
    authorization_servers: [appUrl],
    ...scopesSupported(names),
    bearer_methods_supported: ['header'],
    resource_name: brand.productName,
    resource_documentation: appUrl + paths.developers,
  };
}

/** RFC 8414 §2, RFC 8628 §4, RFC 9126 §5, RFC 9207 §3. */
function serverMetadata({ appUrl, apiUrl, paths }: Service, names: readonly string[]): object {
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
    ...scopesSupported(names),
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

/** Names of OpenID Connect are never among the defined ones: clients would request them, and expect an ID token. */
function namesIn(scopes: readonly ScopeDefinition[]): string[] {
  return scopes.map(({ name }) => name).filter((name) => !isOpenIdHabit(name));
}

/** RFC 8414 §3.2 omits empty lists. */
function scopesSupported(names: readonly string[]): object {
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
const SERVER_MEMBERS = {
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
};
const SERVER_METADATA = namedObject('ServerMetadata', SERVER_MEMBERS);
const OPENID_METADATA = namedObject('OpenIdMetadata', { ...SERVER_MEMBERS, ...OPENID_MEMBERS });
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
  summary: 'The same at the path of OpenID Connect Discovery, with its members once an app has sign-in',
  description:
    'RFC 8414 §5, OpenID Connect Discovery 1.0 §4. Without an app with sign-in it is for clients that look only here.',
  responses: readableBy('Any', {
    200: answer('The metadata.', OPENID_METADATA, PUBLIC),
    ...problems('OAuth', 'method_not_allowed', 'too_many_requests', 'internal', 'unavailable'),
  }),
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
