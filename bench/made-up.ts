/** What the bare servers answer: as long as the real thing, made of nothing. */

const TOKEN_CHARACTERS = 80;
let made = 0;

/** Two tokens that nobody was given before. */
export function madeUpPair(): { access_token: string; refresh_token: string } {
  made += 1;
  const digits = String(made).padStart(TOKEN_CHARACTERS - 6, '0');
  return { access_token: `vk_at_${digits}`, refresh_token: `vk_rt_${digits}` };
}

/** An answer of `/v2/me`. */
export const OWNER = {
  status: 'success',
  data: {
    id: 'usr_0123456789abcdef',
    username: null,
    email: 'usr_0123456789abcdef@example.com',
    name: 'Ada Example',
    avatar_url: null,
  },
  authorization: {
    client_id: 'cl_0123456789abcdef',
    scope: '',
    granted_at: '2026-01-01T00:00:00.000Z',
    expires_at: '2026-01-01T00:30:00.000Z',
  },
};

/** An answer of introspection. */
export const ACTIVE = {
  active: true,
  scope: '',
  client_id: 'app_0123456789abcdef',
  sub: 'usr_0123456789abcdef',
  token_type: 'Bearer',
  exp: 1_767_225_600,
  iss: 'http://127.0.0.1:3000',
  grant_id: '019b7cd0-a1b2-7c3d-8e4f-5a6b7c8d9e0f',
};
