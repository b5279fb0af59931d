# An app with oauth2 of Ruby, as ../walk.ts runs it.

require 'digest'
require 'oauth2'
require 'securerandom'
require 'uri'

$stdout.sync = true
API_URL = ENV.fetch('API_URL')
SECRET = ENV.fetch('CLIENT_SECRET')

client = OAuth2::Client.new(
  ENV.fetch('CLIENT_ID'),
  SECRET,
  site: ENV.fetch('APP_URL'),
  authorize_url: '/oauth2/authorize',
  token_url: '/oauth2/token',
  redirect_uri: ENV.fetch('REDIRECT_URI'),
  # The second is the library's name for sending the id alone.
  auth_scheme: SECRET.empty? ? :tls_client_auth : :basic_auth
)
state = SecureRandom.urlsafe_base64(16)
verifier = SecureRandom.urlsafe_base64(48)
challenge = Digest::SHA256.base64digest(verifier).tr('+/', '-_').delete('=')
url = client.auth_code.authorize_url(
  scope: 'read', state: state, code_challenge: challenge, code_challenge_method: 'S256'
)
puts "authorize #{url}"

back = URI.decode_www_form(URI($stdin.gets.strip).query).to_h
raise 'another state came back' unless back['state'] == state

first = client.auth_code.get_token(back['code'], code_verifier: verifier)
puts 'exchange'

def me(token)
  answer = token.get("#{API_URL}/v2/me", raise_errors: false)
  puts "me #{answer.status == 200 ? answer.parsed['data']['email'] : answer.status}"
end

me(first)
second = first.refresh!
raise 'the refresh token is the same' if second.refresh_token == first.refresh_token

puts 'refresh'
me(second)
# The library has no method for RFC 7009: this is its plain request, which raises for any refusal.
credentials = SECRET.empty? ? { client_id: client.id } : { client_id: client.id, client_secret: SECRET }
client.request(:post, '/oauth2/revoke', body: { token: second.refresh_token }.merge(credentials))
puts 'revoke'
me(second)
begin
  second.refresh!
rescue OAuth2::Error => e
  puts "refresh #{e.code}"
end
