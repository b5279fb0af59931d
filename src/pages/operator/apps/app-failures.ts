/** The table of an app's failures. */
import type { AppFailure } from '../../../oauth/activity/app-failure.ts';
import { type Html, html } from '../../html.ts';
import { isolated, isolatedAddress, isolatedCode } from '../../isolated.ts';
import type { PageContext } from '../../layout.ts';
import { dataTable } from '../table.ts';

/** A table of failures with their causes. */
export function failureTable({ messages }: PageContext, failures: readonly AppFailure[]): Html {
  return dataTable(
    'Failures',
    [
      ['When', ({ at }) => html`<span class="whole">${messages.minute(at)}</span>`],
      [
        'Cause',
        ({ error, reason, endpoint }) =>
          html`${isolated(reason, 300)}<small>${isolatedCode(error)}, ${ENDPOINTS[endpoint]}</small>`,
      ],
      ['Network', ({ network }) => html`<span class="whole">${isolatedAddress(network)}</span>`],
      [
        'Request',
        ({ requestId, grantId }) =>
          html`<code class="whole">${isolatedAddress(requestId)}</code>${grantId !== null && html`<small><a href="/grants/${grantId}">Grant</a></small>`}`,
      ],
    ],
    failures,
  );
}

const ENDPOINTS = {
  token: 'token endpoint',
  revocation: 'revocation endpoint',
  pushed_authorization_request: 'pushed authorization request',
  device_authorization: 'device authorization endpoint',
} as const;
