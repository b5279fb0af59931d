/** `GET /v1/status`: the state of the installation, with the doctor's findings that are quick. */
import { statusJson } from '../../../operator/json/status.ts';
import type { Service } from '../../service/service.ts';
import { readOperation } from './described-parts.ts';
import { type Route, route } from './route.ts';
import { STATUS } from './schemas.ts';

const SHOW = readOperation('status', 'showStatus', 'The state of the installation, at most 10 seconds old', STATUS, []);

/** Returns the route. */
export function showingStatus({ operatorApi }: Service): Route[] {
  return [
    route('GET', '/status', 'status.show', SHOW, async () => {
      return statusJson(await operatorApi.status());
    }),
  ];
}
