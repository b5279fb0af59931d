/** `GET /v1/status`: the state of the installation, with the doctor's findings that are quick. */
import { statusJson } from '../../../operator/json/status.ts';
import type { Service } from '../../service.ts';
import { readOperation } from './described.ts';
import { readQuery } from './query.ts';
import type { Route } from './route.ts';
import { STATUS } from './schemas.ts';

const SHOW = readOperation('status', 'showStatus', 'The state of the installation, at most 10 seconds old', STATUS, []);

/** Returns the route. */
export function showingStatus({ operatorApi }: Service): Route[] {
  return [
    {
      ...{ method: 'GET', path: '/status', act: 'status.show', operation: SHOW },
      answer: async ({ request }) => {
        readQuery(request, []);
        return statusJson(await operatorApi.status());
      },
    },
  ];
}
