/** The product's calls about its own users, with the right `users`. A failed call throws `ValetkeyError`. */
import { type Registration, Valetkey, ValetkeyError } from './valetkey.ts';

/** A user's profile. An absent field stays as it is; null clears it. `avatarUrl` is https. */
export type Profile = {
  readonly name?: string | null | undefined;
  readonly email?: string | null | undefined;
  readonly emailVerified?: boolean | null | undefined;
  readonly username?: string | null | undefined;
  readonly avatarUrl?: string | null | undefined;
};

/** A user to create or update. */
export type UserToPut = Profile & { readonly subject: string };

/** A user as Valetkey knows them; `id` is what apps see. */
export type KnownUser = UserToPut & { readonly id: string; readonly status: 'active' | 'disabled' };

/** An app's access to one user's data. Times in ISO 8601. */
export type Connection = {
  /** Names this entry for `revoke`. */
  readonly connection_id: string;
  readonly client_id: string;
  readonly name: string;
  readonly publisher: string | null;
  readonly homepage: string | null;
  readonly privacy_page: string | null;
  readonly contact: string | null;
  /** True if the operator vouches for publisher and host. */
  readonly is_checked: boolean;
  /** The host of the app's metadata document. */
  readonly host: string | null;
  /** The hosts that the app sends people to. */
  readonly redirect_hosts: readonly string[];
  /** True if the app signs the user in. */
  readonly signs_in: boolean;
  readonly scope: string;
  readonly permissions: readonly {
    readonly name: string;
    readonly sentence: string | null;
    readonly effect: string | null;
    readonly optional: boolean;
  }[];
  /** The profile fields that the app gets. */
  readonly profile: readonly string[];
  readonly granted_at: string;
  readonly last_used_at: string | null;
  /** End without further use, and end in any case. */
  readonly expires_at: string;
  readonly expires_at_the_latest: string;
  /** True for an app on a device that has no browser. */
  readonly device: boolean;
  /** True if the app has not fetched its tokens yet: such an entry disappears with the code, after a minute. */
  readonly is_waiting: boolean;
};

/** A page of connections; `next` is null on the last one. */
export type Connections = { readonly connections: readonly Connection[]; readonly next: string | null };

/** Access that apps lost. Without `client_id`: all apps. Without `subject`: all users. */
export type Disconnect = {
  readonly subject?: string;
  readonly client_id?: string;
  readonly reason: 'user' | 'provider' | 'app' | 'operator' | 'reuse' | 'limit' | 'account_ended';
  readonly at: string;
};

/** A page of disconnects; `next` is the cursor of the next call. */
export type Disconnects = { disconnects: readonly Disconnect[]; next: string; has_more: boolean };

/** Options of a list of connections; `language` is a BCP 47 tag, `after` the `next` of a page. */
export type ListOptions = { readonly language?: string; readonly limit?: number; readonly after?: string };

/** Makes the calls of a product. */
export function createApi(registration: Registration) {
  const valetkey = new Valetkey(registration);
  const get = async <T>(path: string, query: object): Promise<T> => {
    const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
    return (await valetkey.call(`GET /users${path}?${new URLSearchParams(given)}`)) as T;
  };
  const post = (path: string, body: object): Promise<boolean> =>
    valetkey.call(`POST /users${path}`, body).then(() => true, unless(404, false));
  return {
    users: {
      /** Creates or updates a user, or up to 200: all of them, or none. */
      put: async (users: UserToPut | readonly UserToPut[]): Promise<void> => {
        await valetkey.call('PUT /users', { users: [users].flat().map(membersOf) });
      },
      /** Returns a user; null if Valetkey has none with this subject. */
      get: (subject: string): Promise<KnownUser | null> =>
        get<Record<string, never>>('', { subject }).then(userOf, unless(404, null)),
      /** Ends the sessions, and refuses the user and all of the user's apps. False if Valetkey has no such user. */
      disable: (subject: string) => post('/disable', { subject }),
      /** Ends `disable`. False if Valetkey has no such user. */
      enable: (subject: string) => post('/enable', { subject }),
      /** Erases the account, and ends all access. False if Valetkey has no such user. */
      delete: (subject: string) => post('/delete', { subject }),
      /** Signs the user out of Valetkey; apps stay connected. False if Valetkey has no such user. */
      endSessions: (subject: string) => post('/end-sessions', { subject }),
    },
    connections: {
      /** Returns a page of the user's connected apps; an empty one if Valetkey has no such user. */
      list: (subject: string, options: ListOptions = {}): Promise<Connections> =>
        get<Connections>('/connections', { subject, ...options }).catch(unless(404, { connections: [], next: null })),
      /** Ends one connection, or all of an app. False if Valetkey has no such user. */
      revoke: (subject: string, which: { connection_id: string } | { client_id: string }) => {
        const isOne = 'connection_id' in which;
        const named = isOne ? { connection_id: which.connection_id } : { client_id: which.client_id };
        return post('/connections/revoke', { subject, ...named });
      },
    },
    /** Returns a page of the access that apps lost after a cursor; null if the cursor is older than a day. */
    disconnects: (after?: string | null): Promise<Disconnects | null> =>
      get<Disconnects>('/disconnects', { after }).catch(unless(410, null)),
  };
}

/** Returns a user as sent: these members alone, whatever else the product's object has. */
export function membersOf({ subject, name, email, emailVerified, username, avatarUrl }: UserToPut): object {
  return { subject, name, email, email_verified: emailVerified, username, avatar_url: avatarUrl };
}

function userOf({ email_verified, avatar_url, ...same }: Record<string, never>): KnownUser {
  return { ...(same as unknown as KnownUser), emailVerified: email_verified, avatarUrl: avatar_url };
}

/** Returns a handler of failures that takes one HTTP status for a value. */
function unless<T>(httpStatus: number, value: T): (error: unknown) => T {
  return (error) => {
    if (error instanceof ValetkeyError && error.httpStatus === httpStatus) return value;
    throw error;
  };
}
