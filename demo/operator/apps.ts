/** Registers the made-up apps. */
import type { NewClientSettings } from '../../src/operator/apps/client-settings.ts';
import type { CastApp } from './cast.ts';
import type { App } from './connections.ts';
import type { History } from './history.ts';
import { type ActingOperator, actorOf, signInOperator } from './operators.ts';

/** Registers an app, by an operator who signs in for that. */
export async function registerApp({ installation, operators, apps, chance }: History, cast: CastApp): Promise<App> {
  const operator = chance.pick(operators.slice(0, 2)) as ActingOperator;
  await signInOperator(installation, operator, 'Firefox on Linux');
  const type = cast.kind === 'public' ? 'public' : 'confidential';
  const { row: client, secret: clientSecret } = await installation.clients.register(
    type,
    settingsOf(cast),
    actorOf(operator),
  );
  const app = { cast, client, secret: clientSecret, server: serverOf(apps.length) };
  apps.push(app);
  return app;
}

/** The address of the server of the next app. */
export function serverOf(place: number): string {
  return `203.0.113.${10 + place}`;
}

/** The settings of an app. */
export function settingsOf({ name, host, scopes, kind, isChecked = false }: CastApp): NewClientSettings {
  return {
    name,
    publisher: `${name.split(' ')[0]} Labs`,
    homepage: `https://${host}.example/`,
    privacyPage: `https://${host}.example/privacy`,
    contact: `developers@${host}.example`,
    isChecked,
    redirectUris: kind === 'device' ? [] : [`https://app.${host}.example/callback`],
    deviceFlow: kind === 'device',
    requirePkce: kind === 'public',
    scopes: scopes.map((scope) => ({ name: scope, sentence: null, optional: false })),
  };
}
