/** The product's calls about its own users, with the right `users`. Each throws `ValetkeyError` unless it succeeds. */
import { call, ValetkeyError } from './call.ts';
import { Credentials, type Registration } from './credentials.ts';

/** A user's profile. An absent field stays as it is; null clears it. */
export type Profile = {
  readonly name?: string | null | undefined;
  readonly email?: string | null | undefined;
  readonly emailVerified?: boolean | null | undefined;
  readonly username?: string | null | undefined;
  /** Address of a picture; https. */
  readonly avatarUrl?: string | null | undefined;
};

/** A user as Valetkey knows them; `id` is what apps see. */
export type KnownUser = { readonly subject: string; readonly id: string; readonly status: 'active' | 'disabled' } & {
  readonly [field in keyof Profile]-?: Exclude<Profile[field], undefined>;
};

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
  /** True if the app has not fetched its tokens yet. */
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

/** A page of disconnects; send `next` with the next call. */
export type Disconnects = {
  readonly disconnects: readonly Disconnect[];
  readonly next: string;
  readonly has_more: boolean;
};

/** Options of a list of connections; `language` is a BCP 47 tag, `after` the `next` of a page. */
export type ListOptions = { readonly language?: string; readonly limit?: number; readonly after?: string };

/** The calls of a product. */
export type Api = ReturnType<typeof createApi>;

/** Makes the calls of a product. */
export function createApi(registration: Registration) {
  const credentials = new Credentials(registration);
  const ask = (method: 'GET' | 'PUT' | 'POST', path: string, body?: object) =>
    call(credentials, { method, path: `/users${path}`, ...(body && { body }) });
  const get = (path: string, query: object) => ask('GET', `${path}?${new URLSearchParams(given(query))}`);
  const act = (path: string) => (subject: string) =>
    unless(
      404,
      ask('POST', path, { subject }).then(() => true),
      false,
    );
  return {
    users: {
      /** Creates or updates a user, or up to 200: all of them, or none. */
      put: async (users: UserToPut | readonly UserToPut[]): Promise<void> => {
        await ask('PUT', '', { users: [users].flat().map(asMembers) });
      },
      /** Returns a user; null if Valetkey knows none with this subject. */
      get: (subject: string): Promise<KnownUser | null> => unless(404, get('', { subject }).then(asUser), null),
      /** Ends the sessions, and refuses the user and all of the user's apps. False if Valetkey has no such user. */
      disable: act('/disable'),
      enable: act('/enable'),
      /** Erases the account, and ends all access. False if Valetkey has no such user, or no longer. */
      delete: act('/delete'),
      /** Signs the user out of Valetkey; apps stay connected. False if Valetkey has no such user. */
      endSessions: act('/end-sessions'),
    },
    connections: {
      /** Returns a page of the user's connected apps; an empty one for a user whom Valetkey does not know. */
      list: (subject: string, options: ListOptions = {}): Promise<Connections> =>
        unless(404, get('/connections', { subject, ...options }) as Promise<Connections>, {
          connections: [],
          next: null,
        }),
      /** Ends one connection, or all of an app. False if Valetkey has no such user. */
      revoke: (subject: string, which: { connection_id: string } | { client_id: string }): Promise<boolean> =>
        unless(
          404,
          ask('POST', '/connections/revoke', { subject, ...which }).then(() => true),
          false,
        ),
    },
    /** Returns a page of the access that apps lost after a cursor; null if the cursor is older than a day. */
    disconnects: (after?: string | null): Promise<Disconnects | null> =>
      unless(410, get('/disconnects', { after }) as Promise<Disconnects>, null),
  };
}

/** A user to create or update. */
export type UserToPut = Profile & { readonly subject: string };

/** Returns a profile as it is sent; undefined members are left out. */
export function profileMembers({ name, email, emailVerified, username, avatarUrl }: Profile): object {
  return { name, email, email_verified: emailVerified, username, avatar_url: avatarUrl };
}

function asMembers({ subject, ...profile }: UserToPut): object {
  return { subject, ...profileMembers(profile) };
}

function asUser(said: unknown): KnownUser {
  const { email_verified, avatar_url, ...same } = said as Record<string, never>;
  return { ...(same as object), emailVerified: email_verified, avatarUrl: avatar_url } as unknown as KnownUser;
}

/** Returns the given options as texts. */
function given(query: object): [string, string][] {
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
  return pairs.map(([name, value]) => [name, String(value)]);
}

function unless<T, U>(status: number, result: Promise<T>, instead: U): Promise<T | U> {
  return result.catch((error: unknown) => {
    if (error instanceof ValetkeyError && error.status === status) return instead;
    throw error;
  });
}
