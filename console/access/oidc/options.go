package oidc

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/httpx"
)

// Options say which provider there is, and what its users may do.
type Options struct {
	// Issuer is the provider's URL, exactly as the provider writes it: https, or http on a loopback address.
	Issuer string
	// ClientID is what the provider calls the console.
	ClientID string
	// ClientSecret is the console's password at the provider. Empty for a public client, which has PKCE only.
	ClientSecret string
	// RedirectURL is the public URL of the console's [CallbackPath], exactly as the provider has it
	// registered. What comes before that path is where the console is, and where its users get to.
	RedirectURL string
	// Scopes are asked for beside openid. Default profile and email.
	Scopes []string
	// NameClaim is the claim with the name of a user. Default email, which counts only if the provider
	// has verified it. preferred_username can be read well, too, but some providers let users choose it
	// freely; sub is the one that never changes.
	NameClaim string
	// GroupsClaim is the claim with the groups of a user: a list of texts, or a text. Default groups.
	GroupsClaim string
	// Groups are what members of groups may do. Who is in none of them is refused.
	Groups map[string][]access.Grant
	// LogoutURL is where the provider sends a user back to after a log-out there, exactly as it has that
	// registered. Empty: users are not logged out at the provider, so who logs in again is let in without a question.
	LogoutURL string
	// Sessions begins sessions of those who have logged in.
	Sessions Sessions
	// Slog gets the causes of refusals, and what is wrong with the provider. nil is silence.
	Slog *slog.Logger
	// Transport sends requests to the provider. nil: one like http.DefaultTransport, of its own.
	Transport http.RoundTripper
}

// Sessions begins sessions. access.Control is one.
type Sessions interface {
	// Address is where a request comes from.
	Address(*http.Request) netip.Addr
	// Begin begins a session of a user, by cookies of the answer, and tells the log about it.
	Begin(w http.ResponseWriter, r *http.Request, name string, grants []access.Grant) error
	// Refused is told of each log-in that is refused, and why. The name is empty if the provider has not said it.
	Refused(r *http.Request, name, why string)
}

// complete returns the options with their defaults, or what is wrong with them.
func (o Options) complete() (Options, error) {
	if len(o.Scopes) == 0 {
		o.Scopes = []string{"profile", "email"}
	}
	if o.NameClaim == "" {
		o.NameClaim = "email"
	}
	if o.GroupsClaim == "" {
		o.GroupsClaim = "groups"
	}
	if o.Slog == nil {
		o.Slog = slog.New(slog.DiscardHandler)
	}
	_, issuer := secureURL(o.Issuer)
	redirect, err := secureURL(o.RedirectURL)
	if err == nil && !strings.HasSuffix(redirect.Path, CallbackPath) {
		err = fmt.Errorf("it does not end with %s", CallbackPath)
	}
	var logout error
	if o.LogoutURL != "" {
		_, logout = secureURL(o.LogoutURL)
	}
	return o, errors.Join(
		in("Issuer", issuer),
		in("ClientID", missing(o.ClientID == "")),
		in("RedirectURL", err),
		in("Groups", o.validateGroups()),
		in("LogoutURL", logout),
		in("Sessions", missing(o.Sessions == nil)),
	)
}

func (o Options) validateGroups() error {
	if len(o.Groups) == 0 {
		return errors.New("nobody could log in: give a group some grants")
	}
	for _, group := range slices.Sorted(maps.Keys(o.Groups)) {
		for i, g := range o.Groups[group] {
			if err := g.Validate(); err != nil {
				return fmt.Errorf("%s[%d]: %w", brief.Quote(group), i, err)
			}
		}
	}
	return nil
}

func in(field string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("oidc: %s: %w", field, err)
}

func missing(is bool) error {
	if is {
		return errors.New("it is missing")
	}
	return nil
}

// secureURL reads a URL that nobody between can read or change requests to. Errors do not show it.
func secureURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("it is no absolute URL without user, query and fragment")
	}
	if u.Scheme == "https" || u.Scheme == "http" && httpx.IsLoopback(u.Hostname()) {
		return u, nil
	}
	return nil, errors.New("it is not https; http is allowed on a loopback address only")
}
