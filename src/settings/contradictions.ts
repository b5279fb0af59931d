/** The settings that exclude each other. */
import type { Fault } from '../process/installation-error.ts';
import type { Values } from './variables.ts';

/** Returns the settings that exclude each other; `variables` are the texts. */
export function contradictions(values: Values, variables: Readonly<Record<string, string | undefined>>): Fault[] {
  const mistakes: Fault[] = [];
  const add = (problem: string, remedy: string) => mistakes.push({ problem, remedy });
  if (values.keys !== null && variables['VALETKEY_KEYS_FILE'])
    add('VALETKEY_KEYS and VALETKEY_KEYS_FILE are both set', 'keep one of them');
  if (values.accessTokenTtl > values.refreshTokenIdleTtl)
    add('VALETKEY_ACCESS_TOKEN_TTL is longer than VALETKEY_REFRESH_TOKEN_IDLE_TTL', 'make it shorter');
  if (values.refreshTokenIdleTtl > values.refreshTokenMaxTtl)
    add('VALETKEY_REFRESH_TOKEN_IDLE_TTL is longer than VALETKEY_REFRESH_TOKEN_MAX_TTL', 'make it shorter');
  if (values.appUrl === values.apiUrl && variables['VALETKEY_API_LISTEN'])
    add('VALETKEY_API_LISTEN is set, but both URLs are the same and share VALETKEY_APP_LISTEN', 'unset it');
  if (values.productLogoDark !== null && values.productLogo === null)
    add('VALETKEY_PRODUCT_LOGO_DARK is set without VALETKEY_PRODUCT_LOGO', 'name the logo of light pages too');
  if (values.operatorUrl !== null) mistakes.push(...sharedHosts(values, values.operatorUrl));
  return mistakes;
}

/**
 * Returns the mistakes of an operators' address on a host of the users' addresses. Cookies know no ports (RFC 6265
 * §8.5), and neither do passkeys (WebAuthn L3 §5.1.2). On one's own machine, `localhost` may be shared.
 */
function sharedHosts({ appUrl, apiUrl }: Values, operatorUrl: string): Fault[] {
  if (operatorUrl === appUrl || operatorUrl === apiUrl)
    return [
      {
        problem: `VALETKEY_OPERATOR_URL is the same as ${operatorUrl === appUrl ? 'VALETKEY_APP_URL' : 'VALETKEY_API_URL'}`,
        remedy: 'give it another host, or on localhost another port',
      },
    ];
  const { hostname } = new URL(operatorUrl);
  const isShared = [appUrl, apiUrl].some((url) => hostOf(url) === hostOf(operatorUrl));
  return isShared && hostname !== 'localhost'
    ? [
        {
          problem:
            'VALETKEY_OPERATOR_URL has the host of VALETKEY_APP_URL or VALETKEY_API_URL, and cookies know no ports',
          remedy: 'give it a host of its own',
        },
      ]
    : [];
}

/** Returns a URL's host name without the dot that a full name may end with. */
function hostOf(url: string): string {
  return new URL(url).hostname.replace(/\.$/, '');
}
