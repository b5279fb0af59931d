/** Public pages and files: the start page, the developers' page, its documents for programs, the stylesheet and the logo. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Throttle } from '../../accounts/guessing/throttle.ts';
import { hasPassword } from '../../accounts/people/account.ts';
import { sentenceFor } from '../../oauth/grants/scope.ts';
import type { Parameters } from '../../oauth/parameters.ts';
import { isFillable } from '../../pages/developers/developers-examples.ts';
import { developersMarkdown, llmsText, type ProgramDocuments } from '../../pages/developers/developers-markdown.ts';
import { type DevelopersData, developersPage, type PublishedLimit } from '../../pages/developers/developers-page.ts';
import { homePage } from '../../pages/home-page.ts';
import {
  AUTHORIZE_PATH,
  ME_PATH,
  REFRESH_TOKEN_PATH,
  RESOURCE_METADATA_PATH,
  STANDARD_PATHS,
  TOKEN_PATH,
} from '../service/paths.ts';
import type { Service } from '../service/service.ts';
import type { PageParts } from './page-parts.ts';
import { pageAccount } from './send-page.ts';

/** Adds the public pages and files. */
export function addPublicPages(app: FastifyInstance, parts: PageParts): void {
  const { service, pages, sessions } = parts;
  const { paths, logos } = service;
  const config = { answers: pages.answers, limit: 'public' } as const;
  const forAll = { ...config, mayBePlain: true } as const;

  app.get(paths.home, { config }, async (request, reply) => {
    const signedIn = await sessions.signedIn(request);
    return pages.send(
      reply,
      homePage(pages.context(request), {
        account: signedIn && (await pageAccount(service, signedIn)),
        hasPassword: signedIn !== null && hasPassword(signedIn.account),
      }),
    );
  });

  app.get(paths.developers, { config: forAll }, async (request, reply) => {
    const context = pages.context(request);
    return pages.send(reply, developersPage(context, await developersData(service, request, context.language)));
  });

  app.get(paths.developersMarkdown, { config: forAll }, async (request, reply) => {
    const context = pages.context(request);
    const text = developersMarkdown(context, await developersData(service, request, context.language));
    return sendText(reply, 'text/markdown', text);
  });

  app.get(paths.llms, { config: forAll }, async (request, reply) =>
    sendText(reply, 'text/plain', llmsText(pages.context(request), documentsOf(service))),
  );

  /** Sends a document for programs, which has nothing of a user: whoever asks for it, and not only a window. */
  function sendText(reply: FastifyReply, type: string, text: string): FastifyReply {
    const uncached = pages.secure(reply).header('Cache-Control', 'no-store').header('Vary', 'Accept-Language');
    return uncached.header('Content-Type', `${type}; charset=utf-8`).send(text);
  }

  app.get(pages.stylesheet.path, { config: forAll }, async (_request, reply) => {
    const cached = pages.secure(reply).header('Cache-Control', 'public, max-age=31536000, immutable');
    return cached.header('Content-Type', 'text/css; charset=utf-8').send(pages.stylesheet.text);
  });

  app.get(pages.copyScript.path, { config: forAll }, async (_request, reply) => {
    const cached = pages.secure(reply).header('Cache-Control', 'public, max-age=31536000, immutable');
    return cached.header('Content-Type', 'text/javascript; charset=utf-8').send(pages.copyScript.text);
  });

  for (const { path, logo } of logos)
    if (logo)
      app.get(path, { config: forAll }, async (_request, reply) => {
        const cached = pages.secure(reply).header('Cache-Control', 'public, max-age=3600');
        return cached.header('Content-Type', logo.type).send(logo.bytes);
      });
}

function documentsOf({ appUrl, apiUrl, paths }: Service): ProgramDocuments {
  return {
    markdownUrl: appUrl + paths.developersMarkdown,
    metadataUrl: appUrl + STANDARD_PATHS.metadata,
    resourceMetadataUrl: apiUrl + RESOURCE_METADATA_PATH,
    openApiUrl: appUrl + paths.openApi,
  };
}

async function developersData(service: Service, request: FastifyRequest, language: string): Promise<DevelopersData> {
  const { appUrl, apiUrl, paths, lifetimes, throttles } = service;
  const scopes = await service.scopes.listScopes();
  const asked = (request.query as Parameters).get('client_id') ?? '';
  const clientId = isFillable(asked) ? asked : null;
  const client = clientId === null ? null : await service.clients.findClient(clientId);
  return {
    authorizationUrl: appUrl + AUTHORIZE_PATH,
    accessTokenRequestUrl: appUrl + TOKEN_PATH,
    refreshTokenRequestUrl: appUrl + REFRESH_TOKEN_PATH,
    meUrl: apiUrl + ME_PATH,
    standard: {
      issuer: appUrl,
      metadataUrl: appUrl + STANDARD_PATHS.metadata,
      authorizationUrl: appUrl + STANDARD_PATHS.authorize,
      tokenUrl: appUrl + STANDARD_PATHS.token,
      revocationUrl: appUrl + STANDARD_PATHS.revoke,
      introspectionUrl: appUrl + STANDARD_PATHS.introspect,
      revocationStreamUrl: appUrl + STANDARD_PATHS.revocations,
      pushedAuthorizationRequestUrl: appUrl + STANDARD_PATHS.pushedAuthorizationRequest,
      deviceAuthorizationUrl: appUrl + STANDARD_PATHS.deviceAuthorization,
    },
    clientId,
    signsIn: client?.signIn ?? false,
    isClientIdRefused: asked !== '' && clientId === null,
    openApiUrl: appUrl + paths.openApi,
    scopes: scopes.map(({ name, effect }) => ({
      name,
      sentence: sentenceFor({ name, sentence: null }, scopes, language),
      effect,
    })),
    lifetimes: {
      codeSeconds: lifetimes.code,
      accessTokenSeconds: lifetimes.accessToken,
      refreshTokenIdleSeconds: lifetimes.refreshTokenIdle,
      refreshTokenMaxSeconds: lifetimes.refreshTokenMax,
      refreshOverlapSeconds: lifetimes.refreshOverlap,
      refreshRetryWindowSeconds: lifetimes.refreshRetryWindow,
    },
    limits: [
      publishedLimit('authorization', throttles.authorize),
      publishedLimit('public_pages', throttles.publicPages),
      publishedLimit('client_authentication', throttles.clientAndSource),
      publishedLimit('sign_in_account', throttles.accountAndSource),
      publishedLimit('sign_in_address', throttles.source),
      publishedLimit('device_code', throttles.userCode),
    ],
  };
}

function publishedLimit(kind: PublishedLimit['kind'], { limit }: Throttle): PublishedLimit {
  return { kind, ...limit };
}
