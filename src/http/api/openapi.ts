/**
 * `openapi.json` among the pages: an OpenAPI 3.1 document of every endpoint that is not a page, built from the
 * routes' operations.
 */
import type { FastifyInstance } from 'fastify';
import { readableBy } from '../json/cross-origin-answers.ts';
import { oauthAnswers } from '../json/json-answers.ts';
import {
  answer,
  componentName,
  type Operation,
  PUBLIC,
  problems,
  type SecurityScheme,
  type Tag,
} from '../json/operation.ts';
import { AUTHORIZE_PATH, REFRESH_TOKEN_PATH, STANDARD_PATHS, TOKEN_PATH } from '../service/paths.ts';
import type { Service } from '../service/service.ts';
import { documentBytes, sendMetadata } from './metadata.ts';

/** Version of the interface, not of the program: it changes with the interface's promises. */
const VERSION = '1.0.0';

const DESCRIPTION = `All endpoints that are not pages. A body is a form or a JSON object whose values are strings, in UTF-8, not \
compressed, of at most 64 KiB. A parameter without a value counts as absent, unknown ones are ignored, and none may come \
twice. Credentials in the URL are ignored.`;

const TAGS: Readonly<Record<Tag, string>> = {
  'published face': 'Two token endpoints and the token check, for apps that write the requests themselves.',
  'standard face': 'The same grants by the letter of the RFCs, for OAuth libraries.',
  'resource servers': 'For APIs that the operator registered: check a token, and learn at once when access ends.',
  'identity providers': 'For products that sign in their own users and manage them here.',
  discovery: 'Metadata by which clients configure themselves.',
  health: 'For load balancers and watchdogs, on both addresses.',
};

type DescribedRoute = {
  readonly server: string;
  readonly path: string;
  readonly method: string;
  readonly operation: Operation;
};

/** The parts of a document besides its operations. `url` is the address of most of them. */
export type DocumentFrame = {
  readonly url: string;
  readonly title: string;
  readonly version: string;
  readonly description: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly externalDocs: { readonly url: string; readonly description: string } | null;
  readonly securitySchemes: Readonly<Record<string, object>>;
};

/** Returns the frame of the description for apps, APIs and products. */
export function documentFrame({ appUrl, brand, paths }: Service): DocumentFrame {
  return {
    url: appUrl,
    title: brand.productName,
    version: VERSION,
    description: DESCRIPTION,
    tags: TAGS,
    externalDocs: { url: appUrl + paths.developers, description: 'For developers of apps' },
    securitySchemes: securitySchemes(appUrl),
  };
}

/** The operations of routes, from one server or several. */
export class ApiDescription {
  readonly #frame: DocumentFrame;
  readonly #routes: DescribedRoute[] = [];
  #bytes: Buffer | null = null;

  constructor(frame: DocumentFrame) {
    this.#frame = frame;
  }

  /**
   * Collects the operations that are added to a server after this call; `url` is the server's address. HEAD is not
   * described.
   */
  watch(app: FastifyInstance, url: string): void {
    app.addHook('onRoute', ({ url: path, method, config }) => {
      const operation = config?.operation;
      if (operation && method !== 'HEAD')
        this.#routes.push({ server: url, path, method: String(method).toLowerCase(), operation });
    });
  }

  /** The document's bytes. Built at the first request, when every server has its routes. */
  get bytes(): Buffer {
    this.#bytes ??= documentBytes(this.#document());
    return this.#bytes;
  }

  #document(): object {
    const { url, title, version, description, tags, externalDocs, securitySchemes } = this.#frame;
    const components: Components = { schemas: {}, responses: {}, headers: {} };
    return {
      openapi: '3.1.0',
      info: { title, version, description },
      servers: [{ url }],
      tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
      ...(externalDocs && { externalDocs }),
      paths: this.#paths(components),
      components: { securitySchemes, ...components },
    };
  }

  #paths(components: Components): object {
    const paths: Record<string, Record<string, unknown>> = {};
    for (const { path, method, operation } of this.#routes.toSorted(byPath)) {
      const servers = [...new Set(this.#routes.filter((route) => route.path === path).map(({ server }) => server))];
      const isUsual = servers.length === 1 && servers[0] === this.#frame.url;
      const name = path.replaceAll(/:(\w+)/g, '{$1}');
      paths[name] = {
        ...(isUsual ? {} : { servers: servers.map((url) => ({ url })) }),
        ...paths[name],
        [method]: withReferences(operation, components),
      };
    }
    return paths;
  }
}

/** Adds the document to the app's address. */
export function addOpenApi(app: FastifyInstance, { paths }: Service, description: ApiDescription): void {
  const config = {
    answers: oauthAnswers,
    operation: OPERATION,
    limit: 'public',
    mayBePlain: true,
    isForAnyOrigin: true,
  } as const;
  app.get(paths.openApi, { config }, async (_request, reply) => sendMetadata(reply, description.bytes));
}

const OPERATION: Operation = {
  operationId: 'openApi',
  tags: ['discovery'],
  summary: 'This document',
  responses: readableBy('Any', {
    200: answer('OpenAPI 3.1.', { type: 'object', required: ['openapi', 'info', 'paths'] }, PUBLIC),
    ...problems('OAuth', 'method_not_allowed', 'too_many_requests'),
  }),
};

type Components = Record<string, Record<string, unknown>>;

/** Returns a copy in which references replace named parts; adds the named parts to the components. */
function withReferences(part: unknown, components: Components): unknown {
  if (typeof part !== 'object' || part === null) return part;
  if (Array.isArray(part)) return part.map((each) => withReferences(each, components));
  const copy = Object.fromEntries(Object.entries(part).map(([key, value]) => [key, withReferences(value, components)]));
  const [kind, name] = componentName(part)?.split('/') ?? [];
  if (kind === undefined || name === undefined) return copy;
  components[kind] = { ...components[kind], [name]: copy };
  return { $ref: `#/components/${kind}/${name}` };
}

function byPath(one: DescribedRoute, other: DescribedRoute): number {
  return one.path < other.path ? -1 : one.path > other.path ? 1 : 0;
}

function securitySchemes(appUrl: string): Readonly<Record<Exclude<SecurityScheme, 'operatorKey'>, object>> {
  const basic = (whose: string) => ({
    type: 'http',
    scheme: 'basic',
    description: `The id and the secret of ${whose}, each form-encoded (RFC 6749 §2.3.1). In a POST, you can send both in the body instead.`,
  });
  const bearer = (description: string) => ({ type: 'http', scheme: 'bearer', description });
  const flow = (description: string, authorizationPath: string, tokenPath: string, refreshPath: string) => ({
    type: 'oauth2',
    description,
    flows: {
      authorizationCode: {
        authorizationUrl: appUrl + authorizationPath,
        tokenUrl: appUrl + tokenPath,
        refreshUrl: appUrl + refreshPath,
        // Scopes differ between installations: the metadata lists them.
        scopes: {},
      },
    },
  });
  return {
    clientBasic: basic('the client'),
    resourceServerBasic: basic('the resource server'),
    providerBasic: basic('the identity provider'),
    providerAssertion: bearer(
      'An assertion that the identity provider signed with its own key; its audience is the issuer, and it works once (RFC 7523 §2.2).',
    ),
    accessToken: bearer('An access token (RFC 6750 §2.1).'),
    refreshToken: bearer('A refresh token. You can send it in the body instead.'),
    publishedFace: flow('An access token of the published face.', AUTHORIZE_PATH, TOKEN_PATH, REFRESH_TOKEN_PATH),
    standardFace: flow(
      'An access token of the standard face (RFC 6749 §4.1.1).',
      STANDARD_PATHS.authorize,
      STANDARD_PATHS.token,
      STANDARD_PATHS.token,
    ),
  };
}
