# An app with openid_connect of Ruby, as ../walk.ts runs it: it signs a user in.

require 'openid_connect'
require 'securerandom'
require 'uri'

$stdout.sync = true
SWD.url_builder = URI::HTTP # The library expects TLS, and this service is on loopback.
ISSUER = ENV.fetch('APP_URL')
config = OpenIDConnect::Discovery::Provider::Config.discover!(ISSUER)
client = OpenIDConnect::Client.new(
  identifier: ENV.fetch('CLIENT_ID'),
  secret: ENV.fetch('CLIENT_SECRET'),
  redirect_uri: ENV.fetch('REDIRECT_URI'),
  authorization_endpoint: config.authorization_endpoint,
  token_endpoint: config.token_endpoint,
  userinfo_endpoint: config.userinfo_endpoint
)
state = SecureRandom.urlsafe_base64(16)
nonce = SecureRandom.urlsafe_base64(16)
puts "authorize #{client.authorization_uri(scope: %i[openid profile email], state: state, nonce: nonce)}"

back = URI.decode_www_form(URI($stdin.gets.strip).query).to_h
raise 'another state came back' unless back['state'] == state

client.authorization_code = back['code']
token = client.access_token!
puts 'exchange'

id_token = OpenIDConnect::ResponseObject::IdToken.decode(token.id_token, config.jwks)
id_token.verify!(issuer: ISSUER, client_id: client.identifier, nonce: nonce)
puts "id_token #{id_token.raw_attributes['email']}"

info = token.userinfo!
raise "userinfo is another user's" unless info.sub == id_token.sub

puts "userinfo #{info.email}"
