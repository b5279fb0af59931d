/**
 * The complete programs of the developers' page, one per language. The tests run the shown text. Each asks for
 * permission, reads the address that the browser came back to, asks whose account it is, and refreshes.
 */
import type { StandardAddresses } from './developers-examples.ts';

/** The addresses that a program needs. */
export type ProgramAddresses = Pick<StandardAddresses, 'issuer' | 'authorizationUrl' | 'tokenUrl'> & { meUrl: string };

/** One program: `name` is its language and library, `install` gets the library, `run` starts it as `file`. */
export type ExampleProgram = {
  readonly language: 'javascript' | 'python' | 'go' | 'ruby';
  readonly name: string;
  readonly file: string;
  readonly install: string;
  readonly run: string;
  readonly text: string;
};

/** Returns all programs, in the order of the page. */
export function examplePrograms(addresses: ProgramAddresses): ExampleProgram[] {
  return [
    {
      language: 'javascript',
      name: 'JavaScript, openid-client',
      file: 'app.mjs',
      install: 'npm install openid-client',
      run: 'node app.mjs',
      text: javascript(addresses),
    },
    {
      language: 'python',
      name: 'Python, Authlib',
      file: 'app.py',
      install: 'pip install authlib requests',
      run: 'python3 app.py',
      text: python(addresses),
    },
    {
      language: 'go',
      name: 'Go, golang.org/x/oauth2',
      file: 'app.go',
      install: 'go mod init app && go get golang.org/x/oauth2',
      run: 'go run app.go',
      text: go(addresses),
    },
    {
      language: 'ruby',
      name: 'Ruby, oauth2',
      file: 'app.rb',
      install: 'gem install oauth2',
      run: 'ruby app.rb',
      text: ruby(addresses),
    },
  ];
}

/** The library refuses http, unless it knows that the service is on this machine. */
function javascript({ issuer, meUrl }: ProgramAddresses): string {
  const options = issuer.startsWith('http:')
    ? "{ algorithm: 'oauth2', execute: [client.allowInsecureRequests] }"
    : "{ algorithm: 'oauth2' }";
  const imports = [
    "import { env } from 'node:process';",
    "import { createInterface } from 'node:readline/promises';",
    "import * as client from 'openid-client';",
  ];
  return `${imports.join('\n')}

const { CLIENT_ID, CLIENT_SECRET, REDIRECT_URI } = env;
const config = await client.discovery(
  new URL('${issuer}'),
  CLIENT_ID,
  {},
  client.ClientSecretBasic(CLIENT_SECRET),
  ${options},
);

// Ask for permission: keep both values in the user's session, and send the browser to this address.
const codeVerifier = client.randomPKCECodeVerifier();
const state = client.randomState();
const address = client.buildAuthorizationUrl(config, {
  redirect_uri: REDIRECT_URI,
  state,
  code_challenge: await client.calculatePKCECodeChallenge(codeVerifier),
  code_challenge_method: 'S256',
});
console.log(\`Open this address: \${address}\`);

// When the browser returns: in a server, this address is the request's.
const terminal = createInterface({ input: process.stdin, output: process.stdout });
const back = new URL(await terminal.question('Paste the address that the browser came back to: '));
terminal.close();
const tokens = await client.authorizationCodeGrant(config, back, {
  pkceCodeVerifier: codeVerifier,
  expectedState: state,
});

// Call the API with the access token until it expires.
const answer = await client.fetchProtectedResource(config, tokens.access_token, new URL('${meUrl}'), 'GET');
console.log('Account:', (await answer.json()).data.email);

// When the access token has expired: refresh, and save both tokens of the answer.
const newTokens = await client.refreshTokenGrant(config, tokens.refresh_token);
console.log('Refreshed:', newTokens.refresh_token !== tokens.refresh_token);`;
}

function python({ authorizationUrl, tokenUrl, meUrl }: ProgramAddresses): string {
  return `import os

from authlib.common.security import generate_token
from authlib.integrations.requests_client import OAuth2Session

session = OAuth2Session(
    os.environ["CLIENT_ID"],
    os.environ["CLIENT_SECRET"],
    redirect_uri=os.environ["REDIRECT_URI"],
    code_challenge_method="S256",
)

# Ask for permission: keep both values in the user's session, and send the browser to this address.
verifier = generate_token(48)
address, state = session.create_authorization_url("${authorizationUrl}", code_verifier=verifier)
print("Open this address:", address, flush=True)

# When the browser returns: in a server, this address is the request's.
back = input("Paste the address that the browser came back to: ")
session.fetch_token("${tokenUrl}", authorization_response=back, state=state, code_verifier=verifier)

# Call the API with the access token until it expires.
print("Account:", session.get("${meUrl}").json()["data"]["email"])

# When the access token has expired: refresh, and save both tokens of the answer.
old = session.token["refresh_token"]
session.refresh_token("${tokenUrl}")
print("Refreshed:", session.token["refresh_token"] != old)`;
}

function go({ authorizationUrl, tokenUrl, meUrl }: ProgramAddresses): string {
  return `package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log"
	"net/url"
	"os"
	"strings"

	"golang.org/x/oauth2"
)

var config = oauth2.Config{
	ClientID:     os.Getenv("CLIENT_ID"),
	ClientSecret: os.Getenv("CLIENT_SECRET"),
	RedirectURL:  os.Getenv("REDIRECT_URI"),
	Endpoint: oauth2.Endpoint{
		AuthURL:  "${authorizationUrl}",
		TokenURL: "${tokenUrl}",
	},
}

func main() {
	// Ask for permission: keep both values in the user's session, and send the browser to this address.
	state, verifier := random(), random()
	challenge := sha256.Sum256([]byte(verifier))
	fmt.Println("Open this address:", config.AuthCodeURL(state,
		oauth2.SetAuthURLParam("code_challenge", base64.RawURLEncoding.EncodeToString(challenge[:])),
		oauth2.SetAuthURLParam("code_challenge_method", "S256")))

	// When the browser returns: in a server, this address is the request's.
	fmt.Print("Paste the address that the browser came back to: ")
	line, err := bufio.NewReader(os.Stdin).ReadString('\\n')
	check(err)
	back, err := url.Parse(strings.TrimSpace(line))
	check(err)
	if back.Query().Get("state") != state {
		log.Fatal("this is not the answer to our request")
	}
	ctx := context.Background()
	tokens, err := config.Exchange(ctx, back.Query().Get("code"), oauth2.SetAuthURLParam("code_verifier", verifier))
	check(err)

	// Call the API with the access token until it expires.
	answer, err := config.Client(ctx, tokens).Get("${meUrl}")
	check(err)
	defer answer.Body.Close()
	var me struct{ Data struct{ Email string } }
	check(json.NewDecoder(answer.Body).Decode(&me))
	fmt.Println("Account:", me.Data.Email)

	// When the access token has expired: refresh, and save both tokens of the answer.
	old := &oauth2.Token{RefreshToken: tokens.RefreshToken}
	newTokens, err := config.TokenSource(ctx, old).Token()
	check(err)
	fmt.Println("Refreshed:", newTokens.RefreshToken != tokens.RefreshToken)
}

func random() string {
	bytes := make([]byte, 32)
	_, err := rand.Read(bytes)
	check(err)
	return base64.RawURLEncoding.EncodeToString(bytes)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}`;
}

function ruby({ authorizationUrl, tokenUrl, meUrl }: ProgramAddresses): string {
  return `require 'digest'
require 'oauth2'
require 'securerandom'
require 'uri'

$stdout.sync = true
client = OAuth2::Client.new(
  ENV.fetch('CLIENT_ID'),
  ENV.fetch('CLIENT_SECRET'),
  authorize_url: '${authorizationUrl}',
  token_url: '${tokenUrl}',
  redirect_uri: ENV.fetch('REDIRECT_URI')
)

# Ask for permission: keep both values in the user's session, and send the browser to this address.
state = SecureRandom.urlsafe_base64(32)
verifier = SecureRandom.urlsafe_base64(48)
challenge = Digest::SHA256.base64digest(verifier).tr('+/', '-_').delete('=')
address = client.auth_code.authorize_url(state: state, code_challenge: challenge, code_challenge_method: 'S256')
puts "Open this address: #{address}"

# When the browser returns: in a server, this address is the request's.
print 'Paste the address that the browser came back to: '
back = URI.decode_www_form(URI(gets.strip).query).to_h
raise 'this is not the answer to our request' unless back['state'] == state
tokens = client.auth_code.get_token(back['code'], code_verifier: verifier)

# Call the API with the access token until it expires.
puts "Account: #{tokens.get('${meUrl}').parsed['data']['email']}"

# When the access token has expired: refresh, and save both tokens of the answer.
new_tokens = tokens.refresh!
puts "Refreshed: #{new_tokens.refresh_token != tokens.refresh_token}"`;
}
