package oidctest

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

const (
	clientID     = "the-console"
	clientSecret = "planted-client-secret"
)

// user is who logs in at the provider, without being asked for a password.
type user struct {
	sub, email, name string
	unverified       bool
	groups           any
}

// provider is an OpenID provider with one client and one user. Its fields may be changed between requests.
type provider struct {
	http.Handler
	*store
}

// store is what the provider keeps. Methods that a log-in does not need are those of the nil interface.
type store struct {
	op.Storage

	mu       sync.Mutex
	client   client
	user     user
	key      signingKey
	hidden   bool // the key is not among those that the provider tells
	refuse   bool // the user does not want to
	requests map[string]*authRequest
	codes    map[string]string // → id of request
	tokens   int

	// What a bad provider makes of the claims of an ID token, and how it signs them, if not as it should.
	forge func(claims map[string]any)
	sign  *jose.SigningKey
}

func newProvider(t *testing.T, issuer, callback, home string) *provider {
	t.Helper()
	s := &store{
		client:   client{callback: callback, home: home, lifetime: time.Hour},
		user:     user{sub: "4711", email: "anna@example.com", name: "anna", groups: []string{"staff", "ops"}},
		requests: map[string]*authRequest{}, codes: map[string]string{},
	}
	s.rotate("one")
	p, err := op.NewProvider(&op.Config{CodeMethodS256: true, CryptoKeyId: "k"}, s, op.StaticIssuer(issuer))
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/", p)
	mux.HandleFunc("/log-in", func(w http.ResponseWriter, r *http.Request) {
		id := r.FormValue("id")
		s.mu.Lock()
		request, refuse := s.requests[id], s.refuse
		request.done = !refuse
		s.mu.Unlock()
		if refuse {
			op.AuthRequestError(w, r, request, oidc.ErrAccessDenied(), p)
			return
		}
		http.Redirect(w, r, issuer+"/authorize/callback?id="+id, http.StatusFound)
	})
	mux.HandleFunc("/oauth/token", func(w http.ResponseWriter, r *http.Request) {
		answer := httptest.NewRecorder()
		p.ServeHTTP(answer, r)
		maps.Copy(w.Header(), answer.Header())
		w.WriteHeader(answer.Code)
		if _, err := w.Write(s.forged(t, answer.Body.Bytes())); err != nil {
			t.Error(err)
		}
	})
	return &provider{mux, s}
}

// forged returns an answer of the token endpoint with another ID token, if one is wanted.
func (s *store) forged(t *testing.T, answer []byte) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	var document map[string]any
	if err := json.Unmarshal(answer, &document); err != nil || document["id_token"] == nil || s.forge == nil && s.sign == nil {
		return answer
	}
	token, err := jose.ParseSigned(document["id_token"].(string), []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		t.Fatal(err)
	}
	var claims map[string]any
	if err := json.Unmarshal(token.UnsafePayloadWithoutVerification(), &claims); err != nil {
		t.Fatal(err)
	}
	if s.forge != nil {
		s.forge(claims)
	}
	key := jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: s.key.key, KeyID: s.key.id}}
	if s.sign != nil {
		key = *s.sign
	}
	signer, err := jose.NewSigner(key, nil)
	if err != nil {
		t.Fatal(err)
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		t.Fatal(err)
	}
	if document["id_token"], err = signed.CompactSerialize(); err != nil {
		t.Fatal(err)
	}
	if answer, err = json.Marshal(document); err != nil {
		t.Fatal(err)
	}
	return answer
}

// set changes the provider between two requests.
func (s *store) set(change func(*store)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

func (s *store) rotate(id string) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	s.key = signingKey{id, key}
}

type signingKey struct {
	id  string
	key *ecdsa.PrivateKey
}

func (k signingKey) ID() string                                  { return k.id }
func (k signingKey) Key() any                                    { return k.key }
func (k signingKey) SignatureAlgorithm() jose.SignatureAlgorithm { return jose.ES256 }

type publicKey struct{ signingKey }

func (k publicKey) Key() any                           { return k.key.Public() }
func (k publicKey) Use() string                        { return "sig" }
func (k publicKey) Algorithm() jose.SignatureAlgorithm { return jose.ES256 }

func (s *store) SigningKey(context.Context) (op.SigningKey, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.key, nil
}

func (s *store) SignatureAlgorithms(context.Context) ([]jose.SignatureAlgorithm, error) {
	return []jose.SignatureAlgorithm{jose.ES256}, nil
}

func (s *store) KeySet(context.Context) ([]op.Key, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hidden {
		return nil, nil
	}
	return []op.Key{publicKey{s.key}}, nil
}

// authRequest is a log-in that is under way at the provider.
type authRequest struct {
	*oidc.AuthRequest
	store *store
	id    string
	done  bool
}

func (a *authRequest) GetID() string                      { return a.id }
func (a *authRequest) GetACR() string                     { return "" }
func (a *authRequest) GetAMR() []string                   { return []string{"pwd"} }
func (a *authRequest) GetAuthTime() time.Time             { return time.Now() }
func (a *authRequest) GetClientID() string                { return a.ClientID }
func (a *authRequest) GetRedirectURI() string             { return a.RedirectURI }
func (a *authRequest) GetResponseType() oidc.ResponseType { return a.ResponseType }
func (a *authRequest) GetResponseMode() oidc.ResponseMode { return a.ResponseMode }
func (a *authRequest) GetScopes() []string                { return a.Scopes }
func (a *authRequest) GetState() string                   { return a.State }
func (a *authRequest) Done() bool                         { return a.done }
func (a *authRequest) GetAudience() []string              { return []string{a.ClientID} }
func (a *authRequest) GetNonce() string                   { return a.Nonce }
func (a *authRequest) GetSubject() string                 { return a.store.user.sub }
func (a *authRequest) GetCodeChallenge() *oidc.CodeChallenge {
	return &oidc.CodeChallenge{Challenge: a.CodeChallenge, Method: a.CodeChallengeMethod}
}

func (s *store) CreateAuthRequest(_ context.Context, r *oidc.AuthRequest, _ string) (op.AuthRequest, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := &authRequest{AuthRequest: r, store: s, id: rand.Text()}
	s.requests[a.id] = a
	return a, nil
}

func (s *store) AuthRequestByID(_ context.Context, id string) (op.AuthRequest, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.requests[id]; a != nil {
		return a, nil
	}
	return nil, errors.New("no such request")
}

func (s *store) AuthRequestByCode(ctx context.Context, code string) (op.AuthRequest, error) {
	s.mu.Lock()
	id := s.codes[code]
	s.mu.Unlock()
	return s.AuthRequestByID(ctx, id)
}

func (s *store) SaveAuthCode(_ context.Context, id, code string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.codes[code] = id
	return nil
}

func (s *store) DeleteAuthRequest(_ context.Context, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.requests, id)
	return nil
}

func (s *store) CreateAccessToken(context.Context, op.TokenRequest) (string, time.Time, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens++
	return rand.Text(), time.Now().Add(time.Minute), nil
}

func (s *store) TerminateSession(context.Context, string, string) error { return nil }
func (s *store) Health(context.Context) error                           { return nil }

func (s *store) SetUserinfoFromScopes(context.Context, *oidc.UserInfo, string, string, []string) error {
	return nil
}

func (s *store) SetUserinfoFromRequest(_ context.Context, info *oidc.UserInfo, _ op.IDTokenRequest, scopes []string) error {
	s.describe(info, scopes)
	return nil
}

func (s *store) SetUserinfoFromToken(_ context.Context, info *oidc.UserInfo, _, _, _ string) error {
	s.describe(info, []string{"openid", "profile", "email"})
	return nil
}

func (s *store) describe(info *oidc.UserInfo, scopes []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, scope := range scopes {
		switch scope {
		case "openid":
			info.Subject = s.user.sub
		case "email":
			info.Email, info.EmailVerified = s.user.email, oidc.Bool(!s.user.unverified)
		case "profile":
			info.PreferredUsername = s.user.name
			if s.user.groups != nil {
				info.AppendClaims("groups", s.user.groups)
			}
		}
	}
}

// client is the console, as the provider knows it.
type client struct {
	callback, home string
	lifetime       time.Duration
	inToken        bool // claims are in the ID token, too
}

func (s *store) GetClientByClientID(_ context.Context, id string) (op.Client, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id != clientID {
		return nil, errors.New("no such client")
	}
	return s.client, nil
}

func (s *store) AuthorizeClientIDSecret(_ context.Context, id, secret string) error {
	if id != clientID || secret != clientSecret {
		return errors.New("wrong secret")
	}
	return nil
}

func (c client) GetID() string                       { return clientID }
func (c client) RedirectURIs() []string              { return []string{c.callback} }
func (c client) PostLogoutRedirectURIs() []string    { return []string{c.home} }
func (c client) ApplicationType() op.ApplicationType { return op.ApplicationTypeWeb }
func (c client) AuthMethod() oidc.AuthMethod         { return oidc.AuthMethodBasic }
func (c client) ResponseTypes() []oidc.ResponseType {
	return []oidc.ResponseType{oidc.ResponseTypeCode}
}
func (c client) GrantTypes() []oidc.GrantType                             { return []oidc.GrantType{oidc.GrantTypeCode} }
func (c client) LoginURL(id string) string                                { return "/log-in?id=" + id }
func (c client) AccessTokenType() op.AccessTokenType                      { return op.AccessTokenTypeBearer }
func (c client) IDTokenLifetime() time.Duration                           { return c.lifetime }
func (c client) DevMode() bool                                            { return false }
func (c client) IsScopeAllowed(string) bool                               { return false }
func (c client) IDTokenUserinfoClaimsAssertion() bool                     { return c.inToken }
func (c client) ClockSkew() time.Duration                                 { return 0 }
func (c client) RestrictAdditionalIdTokenScopes() func([]string) []string { return all }
func (c client) RestrictAdditionalAccessTokenScopes() func([]string) []string {
	return all
}

func all(scopes []string) []string { return scopes }
