// An app with golang.org/x/oauth2, as ../walk.ts runs it. The library finds out by itself how the service takes
// credentials: it tries Basic, then the body.
package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"os"
	"strings"

	"golang.org/x/oauth2"
)

var appURL, apiURL = os.Getenv("APP_URL"), os.Getenv("API_URL")

var config = oauth2.Config{
	ClientID:     os.Getenv("CLIENT_ID"),
	ClientSecret: os.Getenv("CLIENT_SECRET"),
	RedirectURL:  os.Getenv("REDIRECT_URI"),
	Scopes:       []string{"read"},
	Endpoint:     oauth2.Endpoint{AuthURL: appURL + "/oauth2/authorize", TokenURL: appURL + "/oauth2/token"},
}

func main() {
	state, verifier := random(), random()
	challenge := sha256.Sum256([]byte(verifier))
	fmt.Println("authorize", config.AuthCodeURL(state,
		oauth2.SetAuthURLParam("code_challenge", base64.RawURLEncoding.EncodeToString(challenge[:])),
		oauth2.SetAuthURLParam("code_challenge_method", "S256")))

	line, err := bufio.NewReader(os.Stdin).ReadString('\n')
	check(err)
	callback, err := url.Parse(strings.TrimSpace(line))
	check(err)
	if callback.Query().Get("state") != state {
		log.Fatal("another state came back")
	}
	ctx := context.Background()
	first, err := config.Exchange(ctx, callback.Query().Get("code"), oauth2.SetAuthURLParam("code_verifier", verifier))
	check(err)
	fmt.Println("exchange")
	me(first)

	second, err := refresh(ctx, first)
	check(err)
	if second.RefreshToken == first.RefreshToken {
		log.Fatal("the refresh token is the same")
	}
	fmt.Println("refresh")
	me(second)

	revoke(second)
	fmt.Println("revoke")
	me(second)
	_, err = refresh(ctx, second)
	var refused *oauth2.RetrieveError
	if !errors.As(err, &refused) {
		log.Fatal("a revoked grant was refreshed: ", err)
	}
	var body struct{ Error string }
	check(json.Unmarshal(refused.Body, &body))
	fmt.Println("refresh", body.Error)
}

// refresh gets the next pair: a token source asks the service when the access token that it was given is empty.
func refresh(ctx context.Context, held *oauth2.Token) (*oauth2.Token, error) {
	return config.TokenSource(ctx, &oauth2.Token{RefreshToken: held.RefreshToken}).Token()
}

func me(token *oauth2.Token) {
	answer, err := config.Client(context.Background(), token).Get(apiURL + "/v2/me")
	check(err)
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		fmt.Println("me", answer.StatusCode)
		return
	}
	var body struct{ Data struct{ Email string } }
	check(json.NewDecoder(answer.Body).Decode(&body))
	fmt.Println("me", body.Data.Email)
}

// revoke is a plain request of RFC 7009: the library has none.
func revoke(token *oauth2.Token) {
	fields := url.Values{"token": {token.RefreshToken}, "client_id": {config.ClientID}}
	if config.ClientSecret != "" {
		fields.Set("client_secret", config.ClientSecret)
	}
	answer, err := http.PostForm(appURL+"/oauth2/revoke", fields)
	check(err)
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		log.Fatal("revoke: ", answer.Status)
	}
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
}
