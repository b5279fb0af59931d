/** The values that the developer of an app, API or product gets: on the page of a hand-over, and from an operator. */
import { endpointsFor } from '../../operator/apps/endpoints.ts';
import type { HandOverSubject } from '../../operator/hand-over/hand-over.ts';
import type { PickedUpData } from '../../pages/developers/pick-up-page.ts';
import { endpointsOf, ME_PATH } from './paths.ts';
import type { Service } from './service.ts';

/** Returns the values for the developer of a registration; `secret` is null without one, and where it is not shown. */
export function developerValues(
  { kind, row }: HandOverSubject,
  secret: string | null,
  { appUrl, apiUrl }: Pick<Service, 'appUrl' | 'apiUrl'>,
): PickedUpData['values'] {
  const endpoints = endpointsOf(appUrl);
  const secretOf = (label: 'clientSecret' | 'resourceServerSecret' | 'providerSecret') =>
    secret === null ? [] : [[label, secret] as const];
  if (kind === 'resource_server')
    return [
      ['resourceServerId', row.id],
      ...secretOf('resourceServerSecret'),
      ['introspectionUrl', endpoints.introspectionUrl],
      ['revocationStreamUrl', endpoints.revocationStreamUrl],
      ['issuer', endpoints.issuer],
    ];
  if (kind === 'identity_provider')
    return [['providerId', row.id], ...secretOf('providerSecret'), ['signInEndpoint', endpoints.signInEndpoint]];
  const its = endpointsFor(row, endpoints);
  return [
    ['clientId', row.id],
    ...secretOf('clientSecret'),
    ['authorizationUrl', its.authorizationUrl],
    ['accessTokenRequestUrl', its.accessTokenRequestUrl],
    ['refreshTokenRequestUrl', its.refreshTokenRequestUrl],
    ...(its.deviceAuthorizationUrl === null ? [] : [['deviceAuthorizationUrl', its.deviceAuthorizationUrl] as const]),
    ['meUrl', apiUrl + ME_PATH],
    ['issuer', endpoints.issuer],
    ...(row.scopes.length === 0 ? [] : [['scopes', row.scopes.map(({ name }) => name).join(' ')] as const]),
    ...(row.redirectUris.length === 0 ? [] : [['redirectUris', row.redirectUris] as const]),
  ];
}
