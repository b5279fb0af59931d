/** Every way in which access ends, at an instance. */
import { type Entry, grantIdOf, type Pair } from './history.ts';
import type { LocalInstance, TestInstallation } from './instances.ts';

/** Ends the access of a pair, or more than that. */
export type Revoke = (installation: TestInstallation, at: LocalInstance, pair: Pair) => Promise<Entry>;

/** The ways in which access ends for good. */
export const REVOCATIONS: Readonly<Record<string, Revoke>> = {
  'the app': ({ recorder }, at, { accessToken, refreshToken }) =>
    recorder.revoke(at, grantIdOf(refreshToken), accessToken),
  'the person, in the pages': ({ recorder, people }, at) => recorder.disconnect(people[0], at),
  'the operator, one grant': ({ recorder }, at, { refreshToken }) => {
    const grantId = grantIdOf(refreshToken);
    const { grants, operator } = at.installation;
    return recorder.act(at, 'revoke', { grantId }, () => grants.revoke(grantId, operator));
  },
  'the operator, all of an app': ({ recorder }, at) => {
    const { clientId } = recorder.client;
    return recorder.act(at, 'revoke', { clientId }, () =>
      at.installation.clients.revokeGrants(clientId, at.installation.operator),
    );
  },
  'the operator, all of a person': ({ recorder, people: [{ accountId }] }, at) => {
    const { accounts, operator } = at.installation;
    const whose = { resourceOwnerId: accountId };
    return recorder.act(at, 'revoke', whose, () => accounts.revokeGrants(accountId, operator));
  },
  'the operator, everything': ({ recorder }, at) => {
    const { grants, operator } = at.installation;
    return recorder.act(at, 'revoke', {}, () => grants.revokeAll(operator));
  },
};

type Act = (installation: TestInstallation, at: LocalInstance) => Promise<Entry>;

/** What refuses while it lasts, and its end. */
export const SUSPENSIONS: Readonly<Record<string, { readonly suspend: Act; readonly resume: Act }>> = {
  'a paused client': {
    suspend: ({ recorder }, at) => {
      const { clientId } = recorder.client;
      return recorder.act(at, 'suspend', { clientId }, () =>
        at.installation.clients.pause(clientId, at.installation.operator),
      );
    },
    resume: ({ recorder }, at) => {
      const { clientId } = recorder.client;
      return recorder.act(at, 'resume', { clientId }, () =>
        at.installation.clients.resume(clientId, at.installation.operator),
      );
    },
  },
  'a disabled account': {
    suspend: ({ recorder, people: [{ accountId }] }, at) => {
      const { accounts, operator } = at.installation;
      const whose = { resourceOwnerId: accountId };
      return recorder.act(at, 'suspend', whose, () => accounts.disable(accountId, operator));
    },
    resume: ({ recorder, people: [{ accountId }] }, at) => {
      const { accounts, operator } = at.installation;
      const whose = { resourceOwnerId: accountId };
      return recorder.act(at, 'resume', whose, () => accounts.enable(accountId, operator));
    },
  },
};
