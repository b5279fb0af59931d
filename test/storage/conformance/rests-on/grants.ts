/** Conditions of the verbs of grants and devices. */
import type { Grant } from '../../../../src/oauth/grants/grant.ts';
import { basisOf, event, NOW, sampleDeviceRequest, sampleGeneration, sampleGrant } from '../../../support/storage.ts';
import type { AnyStore } from '../any-store.ts';
import { accountIsDeleted, accountIsDisabled, type Its, passwordIsAnother, type RestsOn, signIn } from './row.ts';

type Gone = RestsOn['gone'];

const issue = (store: AnyStore, grant: Grant) => store.issueGrant(grant, event('consent_allowed'));
const grants: RestsOn['changes'] = (store, { client }) => store.listGrants({ clientId: client.id, limit: 9 });
/** One more grant like that of a case, with the epochs that were read for it. */
const another = ({ grant }: Its) => ({ ...grant, id: sampleGrant().id, generation: 0 });
const revokeApp = (store: AnyStore, { account, client }: Its) =>
  store.revokeGrantsOfClient(account.id, client.id, event('grant_revoked'));

const epochIsRaised: Gone = {
  'all grants were revoked': (store) => store.revokeAllGrants(event('all_grants_revoked')),
  'all grants of the client were revoked': (store, { client }) =>
    store.revokeClientGrants(client.id, event('client_grants_revoked')),
  'all grants of the person were revoked': (store, { account }) =>
    store.revokeAccountGrants(account.id, event('user_grants_revoked')),
};
const clientOrAccountIsDeleted: Gone = {
  'the client was deleted': (store, { client }) => store.deleteClient(client.id, event('client_deleted')),
  ...accountIsDeleted,
};
const grantIsEnded: Gone = {
  'it was revoked': (store, { grant }) => store.revokeGrant(grant.id, 'operator', event('grant_revoked')),
  'the app was disconnected': revokeApp,
  ...epochIsRaised,
  ...clientOrAccountIsDeleted,
};

/** The rows. */
export const ofGrants: readonly RestsOn[] = [
  {
    verb: 'issueGrant',
    on: 'the session in which it is allowed',
    async decide(store, its) {
      await signIn(store, its);
      return () => store.issueGrant(another(its), event('consent_allowed'), basisOf(its.session.digest));
    },
    gone: {
      'the person signed out': (store, { session }) => store.endSession(session.digest, event('sign_out')),
      'all sessions were ended': (store, { account }) =>
        store.endAccountSessions(account.id, event('user_sessions_ended')),
      ...accountIsDisabled,
      ...passwordIsAnother,
    },
    out: false,
    changes: grants,
  },
  {
    verb: 'issueGrant',
    on: 'the epochs that it keeps, and whose they are',
    async decide(store, its) {
      await signIn(store, its);
      return () => store.issueGrant(another(its), event('consent_allowed'), basisOf(its.session.digest));
    },
    gone: { ...epochIsRaised, ...clientOrAccountIsDeleted },
    out: false,
    changes: grants,
  },
  {
    verb: 'issueGrant',
    on: 'the grants by which consent is remembered',
    async decide(store, its) {
      const { account, client, grant, session } = its;
      await signIn(store, its);
      await issue(store, grant);
      return async () => {
        // With the epochs of now it would live: so what is asked for is the grant that it rests on.
        const epochs = (await store.findEpochs(client.id, account.id)) ?? grant.epochs;
        return store.issueGrant(
          { ...another(its), epochs },
          event('consent_remembered'),
          basisOf(session.digest, grant),
        );
      };
    },
    gone: {
      ...grantIsEnded,
      async 'the client was paused and resumed'(store, { client }) {
        await store.setClientStatus(client.id, 'paused', event('client_paused'));
        await store.setClientStatus(client.id, 'active', event('client_resumed'));
      },
      'its document brought another redirect host': (store, { client }) =>
        store.refreshClient({ ...client, remembersSince: NOW }, client, event('client_document_refreshed')),
    },
    out: false,
    changes: grants,
  },
  {
    verb: 'redeemAuthorizationCode',
    on: 'a live grant whose code nobody redeemed',
    async decide(store, { grant }) {
      await issue(store, { ...grant, generation: 0 });
      return () => store.redeemAuthorizationCode(sampleGeneration(grant, 1));
    },
    gone: {
      'somebody redeemed it': (store, { grant }) => store.redeemAuthorizationCode(sampleGeneration(grant, 1)),
      ...grantIsEnded,
    },
    out: false,
    changes: grants,
  },
  {
    verb: 'rotateRefreshToken',
    on: 'a live grant of the generation before',
    async decide(store, { grant }) {
      await issue(store, grant);
      return () => store.rotateRefreshToken(sampleGeneration(grant, 2));
    },
    gone: {
      'somebody rotated it': (store, { grant }) => store.rotateRefreshToken(sampleGeneration(grant, 2)),
      ...grantIsEnded,
    },
    out: false,
    changes: grants,
  },
  {
    verb: 'revokeGrant',
    on: 'a grant that nothing ended',
    async decide(store, { grant }) {
      await issue(store, grant);
      return () => store.revokeGrant(grant.id, 'operator', event('grant_revoked'));
    },
    gone: grantIsEnded,
    out: false,
    changes: grants,
  },
  {
    verb: 'revokeGrantsOfClient',
    on: 'grants that nothing ended',
    async decide(store, its) {
      await issue(store, its.grant);
      return () => revokeApp(store, its);
    },
    gone: grantIsEnded,
    out: 0,
    changes: grants,
  },
  {
    verb: 'decideDeviceRequest',
    on: 'a request that nobody decided',
    async decide(store, { name }) {
      const request = sampleDeviceRequest({ userCode: name });
      await store.addDeviceRequest({ request, decision: null, pace: { polledAt: 0, interval: 5 } }, [], NOW);
      return () => store.decideDeviceRequest(name, null, 'allowed');
    },
    gone: { 'somebody denied it': (store, { name }) => store.decideDeviceRequest(name, null, 'denied') },
    out: false,
    changes: (store, { name }) => store.findDeviceRequest(name, NOW),
  },
];
