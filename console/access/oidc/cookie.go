package oidc

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"golang.org/x/oauth2"
)

// patience is how long a log-in may take.
const patience = 10 * time.Minute

// attempt is a log-in that is under way.
type attempt struct {
	State    string    `json:"state"`
	Nonce    string    `json:"nonce"`
	Verifier string    `json:"verifier"`
	Back     string    `json:"back"`
	Until    time.Time `json:"until"`
}

func newAttempt(back string) attempt {
	return attempt{
		State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(),
		Back: back, Until: time.Now().Add(patience),
	}
}

// jar puts attempts into a cookie that only the same process can read, and nobody can change.
type jar struct {
	cookie http.Cookie // without value
	seal   cipher.AEAD
}

// newJar returns a jar with a random key. A browser takes a cookie named __Host- from this host only, so
// that another host of the domain cannot give it one of another's log-in.
func newJar(https bool) (*jar, error) {
	key := make([]byte, 32)
	rand.Read(key)
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("oidc: cookie: %w", err)
	}
	seal, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, fmt.Errorf("oidc: cookie: %w", err)
	}
	name := "elasticjob-oidc"
	if https {
		name = "__Host-" + name
	}
	return &jar{http.Cookie{Name: name, Path: "/", Secure: https, HttpOnly: true, SameSite: http.SameSiteLaxMode}, seal}, nil
}

func (j *jar) put(w http.ResponseWriter, a attempt) error {
	text, err := json.Marshal(a)
	if err != nil {
		return fmt.Errorf("oidc: cookie: %w", err)
	}
	c := j.cookie
	c.Value = base64.RawURLEncoding.EncodeToString(j.seal.Seal(nil, nil, text, []byte(c.Name)))
	c.MaxAge = int(patience.Seconds())
	http.SetCookie(w, &c)
	return nil
}

var errNoAttempt = errors.New("no log-in has been started in this browser, or it took too long, or the console has been restarted since")

// take returns the attempt of a request.
func (j *jar) take(r *http.Request) (attempt, error) {
	var a attempt
	c, err := r.Cookie(j.cookie.Name)
	if err != nil {
		return a, errNoAttempt
	}
	sealed, err := base64.RawURLEncoding.DecodeString(c.Value)
	if err != nil {
		return a, errNoAttempt
	}
	text, err := j.seal.Open(nil, nil, sealed, []byte(c.Name))
	if err != nil {
		return a, errNoAttempt
	}
	if err := json.Unmarshal(text, &a); err != nil || time.Now().After(a.Until) {
		return attempt{}, errNoAttempt
	}
	return a, nil
}

func (j *jar) clear(w http.ResponseWriter) {
	c := j.cookie
	c.MaxAge = -1
	http.SetCookie(w, &c)
}
