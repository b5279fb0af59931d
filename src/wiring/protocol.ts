/** The wiring of the protocol: what apps and APIs call. */
import { assertionAudiences } from '../http/service/paths.ts';
import { ClientAuthenticator } from '../oauth/clients/client-authenticator.ts';
import { ClientKeys } from '../oauth/clients/client-keys.ts';
import { GrantRegistry } from '../oauth/connected-apps/grant-registry.ts';
import { DeviceFlow } from '../oauth/device/device-flow.ts';
import { SigningKeys } from '../oauth/openid/signing-keys.ts';
import { AuthorizationServer } from '../oauth/protocol/authorization-server.ts';
import { Introspection } from '../oauth/protocol/introspection.ts';
import { OpenIdConnect } from '../oauth/protocol/openid-connect.ts';
import { SigningThread } from '../process/signing.ts';
import type { SharedParts } from './shared-parts.ts';

/** Wires the protocol, with the keys that sign ID tokens and the grants that users and operators see and end. */
export function makeProtocol(shared: SharedParts) {
  const throttle = shared.throttles.clientAndSource;
  const clients = new ClientAuthenticator({
    ...shared,
    keys: new ClientKeys(shared),
    throttle,
    audiences: assertionAudiences(shared.issuer),
  });
  const signingKeys = new SigningKeys(shared);
  const signingThread = new SigningThread(shared.report);
  const openIdConnect = new OpenIdConnect({
    ...shared,
    signingKeys,
    sign: (text, key) => signingThread.sign(text, key),
  });
  return {
    authorizationServer: new AuthorizationServer({
      ...shared,
      clients,
      openIdConnect,
      signsInElsewhere: shared.methods.some((id) => id !== 'password'),
    }),
    deviceFlow: new DeviceFlow({ ...shared, clients }),
    introspection: new Introspection({ ...shared, throttle }),
    grants: new GrantRegistry(shared.store, shared.now),
    openIdConnect,
    signingKeys,
    signingThread,
  };
}
