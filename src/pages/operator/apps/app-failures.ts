/** The tables of an app's failures and of their causes. */
import type { AppFailure, FailureCause } from '../../../oauth/activity/app-failure.ts';
import { type Html, html } from '../../html.ts';
import { isolated, isolatedAddress, isolatedCode } from '../../isolated.ts';
import type { PageContext } from '../../layout.ts';
import { asSentence } from '../act.ts';
import { dataTable } from '../table.ts';

/** A sentence on the failures that no list has, by the app's type. */
export const ONLY_COUNTED = {
  confidential: 'Requests with a wrong secret are only counted.',
  public: 'Requests that anyone could send in its name are only counted.',
} as const;

/** A table of failures with their causes. */
export function failureTable({ messages }: PageContext, failures: readonly AppFailure[]): Html {
  return dataTable(
    'Failures',
    [
      ['When', ({ at }) => html`<span class="whole">${messages.minute(at)}</span>`],
      ['Cause', cause],
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

/** A table of causes with their numbers. */
export function causeTable({ messages }: PageContext, causes: readonly FailureCause[]): Html {
  return dataTable(
    'Causes',
    [
      ['Cause', cause],
      ['Failures', ({ count }) => count],
      ['Last', ({ lastAt }) => html`<span class="whole">${messages.minute(lastAt)}</span>`],
    ],
    causes,
  );
}

function cause({ error, reason, endpoint }: Pick<AppFailure, 'endpoint' | 'error' | 'reason'>): Html {
  return html`${isolated(asSentence(reason), 300)}<small>${isolatedCode(error)}, ${ENDPOINTS[endpoint]}</small>`;
}

const ENDPOINTS = {
  token: 'token endpoint',
  revocation: 'revocation endpoint',
  pushed_authorization_request: 'pushed authorization request',
  device_authorization: 'device authorization endpoint',
} as const;
