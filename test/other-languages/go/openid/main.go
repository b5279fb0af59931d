// An app with github.com/coreos/go-oidc, as ../../walk.ts runs it: it signs a user in.
package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"log"
	"net/url"
	"os"
	"strings"

	"github.com/coreos/go-oidc"
	"golang.org/x/oauth2"
)

func main() {
	ctx := context.Background()
	provider, err := oidc.NewProvider(ctx, os.Getenv("APP_URL"))
	check(err)
	config := oauth2.Config{
		ClientID:     os.Getenv("CLIENT_ID"),
		ClientSecret: os.Getenv("CLIENT_SECRET"),
		RedirectURL:  os.Getenv("REDIRECT_URI"),
		Endpoint:     provider.Endpoint(),
		Scopes:       []string{oidc.ScopeOpenID, "profile", "email"},
	}
	state, nonce := random(), random()
	fmt.Println("authorize", config.AuthCodeURL(state, oidc.Nonce(nonce)))

	line, err := bufio.NewReader(os.Stdin).ReadString('\n')
	check(err)
	callback, err := url.Parse(strings.TrimSpace(line))
	check(err)
	if callback.Query().Get("state") != state {
		log.Fatal("another state came back")
	}
	token, err := config.Exchange(ctx, callback.Query().Get("code"))
	check(err)
	fmt.Println("exchange")

	text, _ := token.Extra("id_token").(string)
	idToken, err := provider.Verifier(&oidc.Config{ClientID: config.ClientID}).Verify(ctx, text)
	check(err)
	check(idToken.VerifyAccessToken(token.AccessToken))
	if idToken.Nonce != nonce {
		log.Fatal("another nonce came back")
	}
	var claims struct{ Email string }
	check(idToken.Claims(&claims))
	fmt.Println("id_token", claims.Email)

	info, err := provider.UserInfo(ctx, oauth2.StaticTokenSource(token))
	check(err)
	if info.Subject != idToken.Subject {
		log.Fatal("userinfo is another user's")
	}
	fmt.Println("userinfo", info.Email)
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
