package oidc

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"github.com/coreos/go-oidc/v3/oidc"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/internal/route"
	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// Paths of the console, below where it is mounted.
const (
	LoginPath    = "/api/v1/oidc/login"
	CallbackPath = "/api/v1/oidc/callback"
)

// Login lets users of a provider log in. It is safe for use by several goroutines.
type Login struct {
	options   Options
	home      string // path of the console, with / at its end
	jar       *jar
	discovery *discovery
	own       *http.Transport // nil if it is the caller's
	refused   func(w http.ResponseWriter, r *http.Request, status int, reason string)
}

// New returns the log-in by a provider, which is not asked for anything yet. Close it.
//
// Errors: one that says which option is wrong, without secrets.
func New(o Options) (*Login, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	redirect, err := url.Parse(o.RedirectURL)
	if err != nil {
		return nil, in("RedirectURL", err)
	}
	cookies, err := newJar(redirect.Scheme == "https")
	if err != nil {
		return nil, err
	}
	l := &Login{home: strings.TrimSuffix(redirect.Path, CallbackPath) + "/", jar: cookies}
	if o.Transport == nil {
		l.own = http.DefaultTransport.(*http.Transport).Clone()
		o.Transport = l.own
	}
	l.options, l.discovery = o, newDiscovery(o)
	return l, nil
}

// Close closes connections to the provider that nobody uses.
func (l *Login) Close() {
	if l.own != nil {
		l.own.CloseIdleConnections()
	}
}

// OnRefusal has show tell a browser why it is not logged in: by default that is plain text. It is for the program that serves
// the routes, which may have pages. Call it before the first request.
func (l *Login) OnRefusal(show func(w http.ResponseWriter, r *http.Request, status int, reason string)) {
	l.refused = show
}

// Routes returns the routes of the log-in. Anybody may use them.
func (l *Login) Routes() []route.Route {
	open := route.Need{Scope: route.Open}
	return []route.Route{
		{Method: http.MethodGet, Pattern: LoginPath, Need: open, Handler: l.answer(l.begin)},
		{Method: http.MethodGet, Pattern: CallbackPath, Need: open, Handler: l.answer(l.finish)},
	}
}

// LogoutURL returns where a user logs out at the provider, who then sends him back to the console; empty
// if that is not wanted, the provider has no such place, or the user is not one of the provider's. See OpenID Connect
// RP-Initiated Logout 1.0; without id_token_hint, which nobody keeps, a provider may ask the user whether he wants that.
//
// Errors: the provider is away; the cause of ctx.
func (l *Login) LogoutURL(ctx context.Context, name string) (string, error) {
	if l.options.LogoutURL == "" || !strings.HasPrefix(name, Prefix) {
		return "", nil
	}
	p, err := l.discovery.get(ctx)
	if err != nil || p.endSession == "" {
		return "", err
	}
	u, err := url.Parse(p.endSession)
	if err != nil {
		return "", fmt.Errorf("oidc: end_session_endpoint: %w", err)
	}
	query := u.Query()
	query.Set("client_id", l.options.ClientID)
	query.Set("post_logout_redirect_uri", l.options.LogoutURL)
	u.RawQuery = query.Encode()
	return u.String(), nil
}

// refusal ends a log-in. The user and the trail get the text, the log the cause.
type refusal struct {
	status int
	text   string
	user   string // if it is known
	cause  error
}

func (r *refusal) Error() string { return r.text }

// answer makes a handler of a step of a log-in, which returns where the browser goes next.
func (l *Login) answer(step func(http.ResponseWriter, *http.Request) (string, *refusal)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Referrer-Policy", "no-referrer") // the URL has a code
		to, refused := step(w, r)
		if refused != nil {
			l.refuse(w, r, refused)
			return
		}
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusSeeOther)
	})
}

func (l *Login) refuse(w http.ResponseWriter, r *http.Request, refused *refusal) {
	l.options.Sessions.Refused(r, refused.user, "by oidc: "+refused.text)
	if refused.cause != nil {
		l.options.Slog.LogAttrs(r.Context(), slog.LevelWarn, "oidc: log-in refused", slog.String("reason", refused.text),
			slog.Any("address", l.options.Sessions.Address(r)), slog.String("user", refused.user), slog.Any("error", brief.Error(refused.cause)))
	}
	if away := (awayError{}); errors.As(refused.cause, &away) {
		w.Header().Set("Retry-After", strconv.Itoa(int(away.wait/time.Second)+1))
	}
	if l.refused != nil {
		l.refused(w, r, refused.status, refused.text)
		return
	}
	http.Error(w, refused.text, refused.status)
}

// begin sends the browser to the provider.
func (l *Login) begin(w http.ResponseWriter, r *http.Request) (string, *refusal) {
	back, err := backPath(r.URL.Query().Get("return"), l.home)
	if err != nil {
		return "", &refusal{status: http.StatusBadRequest, text: err.Error()}
	}
	p, err := l.discovery.get(r.Context())
	if err != nil {
		return "", unavailable(err)
	}
	a := newAttempt(back)
	if err := l.jar.put(w, a); err != nil {
		return "", &refusal{status: http.StatusInternalServerError, text: "something went wrong here", cause: err}
	}
	return p.oauth2.AuthCodeURL(a.State, oauth2.S256ChallengeOption(a.Verifier), oidc.Nonce(a.Nonce)), nil
}

// finish takes a user back from the provider.
func (l *Login) finish(w http.ResponseWriter, r *http.Request) (string, *refusal) {
	again := "; start again: " + l.home + strings.TrimPrefix(LoginPath, "/")
	query := r.URL.Query()
	a, err := l.jar.take(r)
	if err != nil {
		return "", &refusal{status: http.StatusBadRequest, text: err.Error() + again}
	}
	if subtle.ConstantTimeCompare([]byte(query.Get("state")), []byte(a.State)) != 1 {
		// The cookie stays: this may be another site's doing, and the log-in be still under way.
		return "", &refusal{status: http.StatusBadRequest, text: "this answer belongs to no log-in that is under way in this browser" + again}
	}
	l.jar.clear(w)
	p, err := l.discovery.get(r.Context())
	if err != nil {
		return "", unavailable(err)
	}
	if iss := query.Get("iss"); iss != l.options.Issuer && (iss != "" || p.namesItself) {
		return "", &refusal{status: http.StatusBadRequest, text: "the answer comes from another provider" + again}
	}
	if code := query.Get("error"); code != "" {
		return "", &refusal{status: http.StatusForbidden, text: "the provider has refused: " + brief.Quote(code) + again}
	}
	user, grants, refused := l.identify(r.Context(), p, query.Get("code"), a)
	if refused != nil {
		return "", refused
	}
	if err := l.options.Sessions.Begin(w, r, user, grants); err != nil {
		return "", &refusal{status: http.StatusServiceUnavailable, text: "no session could be begun", user: user, cause: err}
	}
	return a.Back, nil
}

// identify asks the provider whose a code is.
func (l *Login) identify(ctx context.Context, p *provider, code string, a attempt) (string, []access.Grant, *refusal) {
	ctx = oidc.ClientContext(ctx, l.discovery.client)
	token, err := p.oauth2.Exchange(ctx, code, oauth2.VerifierOption(a.Verifier))
	if answered := (*oauth2.RetrieveError)(nil); errors.As(err, &answered) {
		return "", nil, exchangeRefused(answered)
	} else if err != nil {
		return "", nil, unavailable(err)
	}
	documents, err := l.documents(ctx, p, token, a.Nonce)
	if err != nil {
		return "", nil, &refusal{status: http.StatusForbidden, text: "what the provider says of you cannot be trusted", cause: err}
	}
	user, err := userName(pick(documents, l.options.NameClaim), l.options.NameClaim)
	if err != nil {
		return "", nil, &refusal{status: http.StatusForbidden, text: err.Error()}
	}
	groups, err := userGroups(pick(documents, l.options.GroupsClaim), l.options.GroupsClaim)
	if err != nil {
		return "", nil, &refusal{status: http.StatusForbidden, text: err.Error(), user: user}
	}
	grants := grantsOf(groups, l.options.Groups)
	if len(grants) == 0 {
		return "", nil, &refusal{status: http.StatusForbidden, text: user + " is in no group that may use this console", user: user}
	}
	return user, grants, nil
}

// documents returns what the provider says of a user: the ID token, and if claims are missing there, and
// the provider tells them elsewhere, what it tells there.
func (l *Login) documents(ctx context.Context, p *provider, token *oauth2.Token, nonce string) ([]claims, error) {
	raw, ok := token.Extra("id_token").(string)
	if !ok {
		return nil, errors.New("the answer of the token endpoint has no id_token")
	}
	id, err := p.verifier.Verify(ctx, raw)
	if err != nil {
		return nil, err
	}
	var said claims
	if err := id.Claims(&said); err != nil {
		return nil, err
	}
	if err := l.check(id, said, token.AccessToken, nonce); err != nil {
		return nil, err
	}
	documents := []claims{said}
	if said.has(l.options.NameClaim) && said.has(l.options.GroupsClaim) || !p.hasUserInfo {
		return documents, nil
	}
	info, err := p.UserInfo(ctx, oauth2.StaticTokenSource(token))
	if err != nil {
		return nil, fmt.Errorf("userinfo: %w", err)
	}
	if info.Subject != id.Subject {
		return nil, errors.New("userinfo: it is about somebody else")
	}
	var more claims
	if err := info.Claims(&more); err != nil {
		return nil, fmt.Errorf("userinfo: %w", err)
	}
	return append(documents, more), nil
}

// check checks what the library does not.
func (l *Login) check(id *oidc.IDToken, said claims, accessToken, nonce string) error {
	if subtle.ConstantTimeCompare([]byte(id.Nonce), []byte(nonce)) != 1 {
		return errors.New("claim nonce: it is that of another log-in")
	}
	if id.Subject == "" {
		return errors.New("claim sub: it is missing")
	}
	if party := said.text("azp"); said.has("azp") && party != l.options.ClientID {
		return fmt.Errorf("claim azp: the token is meant for %s", brief.Quote(party))
	}
	if id.AccessTokenHash == "" {
		return nil
	}
	return id.VerifyAccessToken(accessToken)
}

// unavailable is the refusal while the provider is away.
func unavailable(err error) *refusal {
	return &refusal{status: http.StatusServiceUnavailable, text: "the provider of log-ins cannot be reached; try again in a while", cause: err}
}

// exchangeRefused is the refusal of a code. What the provider writes beside its code of error is not
// shown: nobody knows what it repeats there.
func exchangeRefused(answered *oauth2.RetrieveError) *refusal {
	cause := fmt.Errorf("token endpoint: %s %s", answered.Response.Status, brief.Quote(answered.ErrorCode))
	if answered.Response.StatusCode >= http.StatusInternalServerError {
		return unavailable(cause)
	}
	return &refusal{status: http.StatusForbidden, text: "the provider does not accept this log-in", cause: cause}
}
