package oidc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"sync/atomic"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/httpx"
)

const (
	answerLimit = 5 * time.Second // of one request to the provider
	maxAnswer   = 1 << 20         // bytes
	firstWait   = time.Second     // before a provider that was away is asked again; doubles
	lastWait    = time.Minute
	fresh       = time.Hour // after it what the provider is like is asked again
)

// provider is what the provider is like, and how to talk to it.
type provider struct {
	*oidc.Provider
	oauth2      oauth2.Config
	verifier    *oidc.IDTokenVerifier
	hasUserInfo bool
	endSession  string // where users log out; empty if they cannot
	namesItself bool   // the answer to the browser says who the issuer is, RFC 9207
}

// discovery finds the provider, once somebody asks for it.
type discovery struct {
	options Options
	client  *http.Client

	found atomic.Pointer[provider]
	turn  chan struct{} // who put something in may change what follows
	next  time.Time     // not before it is the provider asked again
	wait  time.Duration
	fail  error
}

func newDiscovery(o Options) *discovery {
	return &discovery{options: o, turn: make(chan struct{}, 1), client: &http.Client{
		Timeout:   answerLimit,
		Transport: boundedTransport{o.Transport},
		// Endpoints are where the provider says, and secrets go to no other place.
		CheckRedirect: httpx.NoRedirect,
	}}
}

// awayError says that the provider cannot be used, and when it is asked again.
type awayError struct {
	wait  time.Duration
	cause error
}

func (e awayError) Error() string { return fmt.Sprintf("the provider cannot be used: %v", e.cause) }
func (e awayError) Unwrap() error { return e.cause }

// get returns the provider. It is asked by one request at a time; the others wait for that, at most
// answerLimit.
//
// Errors: awayError; the cause of ctx.
func (d *discovery) get(ctx context.Context) (*provider, error) {
	select {
	case d.turn <- struct{}{}:
		defer func() { <-d.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	p := d.found.Load()
	if left := time.Until(d.next); left > 0 {
		if p == nil {
			return nil, awayError{left, d.fail}
		}
		return p, nil
	}
	// A user who goes away does not make the provider one that is away.
	asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerLimit)
	defer cancel()
	asked, err := d.ask(oidc.ClientContext(asking, d.client))
	if err == nil {
		d.found.Store(asked)
		d.next, d.wait, d.fail = time.Now().Add(fresh), 0, nil
		return asked, nil
	}
	d.wait = min(max(2*d.wait, firstWait), lastWait)
	d.next, d.fail = time.Now().Add(d.wait), brief.Error(err)
	d.options.Slog.LogAttrs(ctx, slog.LevelError, "oidc: the provider does not say what it is like",
		slog.String("issuer", d.options.Issuer), slog.Any("error", d.fail), slog.Duration("again in", d.wait))
	if p == nil {
		return nil, awayError{d.wait, d.fail}
	}
	return p, nil
}

// ask asks the provider what it is like.
func (d *discovery) ask(ctx context.Context) (*provider, error) {
	found, err := oidc.NewProvider(ctx, d.options.Issuer)
	if err != nil {
		return nil, err
	}
	var more struct {
		Keys        string   `json:"jwks_uri"`
		EndSession  string   `json:"end_session_endpoint"`
		Methods     []string `json:"token_endpoint_auth_methods_supported"`
		NamesItself bool     `json:"authorization_response_iss_parameter_supported"`
	}
	if err := found.Claims(&more); err != nil {
		return nil, err
	}
	endpoint := found.Endpoint()
	endpoint.AuthStyle = d.authStyle(more.Methods)
	if err := errors.Join(
		secureEndpoint("authorization_endpoint", endpoint.AuthURL, true), secureEndpoint("token_endpoint", endpoint.TokenURL, true),
		secureEndpoint("jwks_uri", more.Keys, true), secureEndpoint("userinfo_endpoint", found.UserInfoEndpoint(), false),
		secureEndpoint("end_session_endpoint", more.EndSession, false),
	); err != nil {
		return nil, err
	}
	return &provider{
		Provider: found,
		oauth2: oauth2.Config{
			ClientID: d.options.ClientID, ClientSecret: d.options.ClientSecret, Endpoint: endpoint,
			RedirectURL: d.options.RedirectURL, Scopes: slices.Concat([]string{oidc.ScopeOpenID}, d.options.Scopes),
		},
		verifier:    found.Verifier(&oidc.Config{ClientID: d.options.ClientID}),
		hasUserInfo: found.UserInfoEndpoint() != "",
		endSession:  more.EndSession,
		namesItself: more.NamesItself,
	}, nil
}

// authStyle says how the console proves who it is. client_secret_basic is what a provider has that does
// not say. Trying both, as the library would, shows a code twice.
func (d *discovery) authStyle(methods []string) oauth2.AuthStyle {
	post := !slices.Contains(methods, "client_secret_basic") && slices.Contains(methods, "client_secret_post")
	if d.options.ClientSecret == "" || post {
		return oauth2.AuthStyleInParams
	}
	return oauth2.AuthStyleInHeader
}

// secureEndpoint says what is wrong with an endpoint.
func secureEndpoint(name, text string, needed bool) error {
	if text == "" && !needed {
		return nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "https" && !(u.Scheme == "http" && httpx.IsLoopback(u.Hostname())) {
		return fmt.Errorf("%s: %s is no https URL", name, brief.Quote(text))
	}
	return nil
}

// boundedTransport bounds what is read of an answer: the library reads all that comes.
type boundedTransport struct{ http.RoundTripper }

func (t boundedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := t.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	answer.Body = struct {
		io.Reader
		io.Closer
	}{http.MaxBytesReader(nil, answer.Body, maxAnswer), answer.Body}
	return answer, nil
}
