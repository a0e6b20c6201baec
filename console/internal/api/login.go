package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/internal/route"
	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// signedIn is what an operation needs that is about who sends the request.
var signedIn = route.Need{Scope: route.SignedIn}

// WithHTTP is the part of a request of operations that set cookies, or need the address of the client.
type WithHTTP struct {
	request *http.Request
	writer  http.ResponseWriter
}

// Resolve is of huma.Resolver.
func (in *WithHTTP) Resolve(ctx huma.Context) []error {
	in.request, in.writer = humago.Unwrap(ctx)
	return nil
}

// GrantInfo is a role in namespaces, for jobs.
type GrantInfo struct {
	Role       string   `json:"role" enum:"viewer,operator,admin" doc:"A higher one may do all that a lower one may."`
	Namespaces []string `json:"namespaces" nullable:"false" minItems:"1" maxItems:"100" doc:"Patterns of names that the console has for them; * stands for any text, and alone for all."`
	Jobs       []string `json:"jobs" nullable:"false" minItems:"1" maxItems:"100" doc:"Patterns of names of jobs; * alone stands for all."`
}

// GrantInfos are grants as the API writes them.
func GrantInfos(grants []access.Grant) []GrantInfo {
	infos := []GrantInfo{}
	for _, g := range grants {
		infos = append(infos, GrantInfo{g.Role.String(), orAll(g.Namespaces), orAll(g.Jobs)})
	}
	return infos
}

// orAll writes out what an empty list means in the users file: nobody grants everything by leaving something out.
func orAll(patterns []string) []string {
	if len(patterns) == 0 {
		return []string{"*"}
	}
	return patterns
}

// grantsOf reads the grants of a request. Nobody gives what he has not.
func grantsOf(ctx context.Context, infos []GrantInfo) ([]access.Grant, error) {
	p := access.From(ctx)
	var grants []access.Grant
	for i, info := range infos {
		field := fmt.Sprintf("body.grants[%d]", i)
		g := access.Grant{Namespaces: info.Namespaces, Jobs: info.Jobs}
		err := g.Role.UnmarshalText([]byte(info.Role))
		if err == nil {
			err = g.Validate()
		}
		if err != nil {
			return nil, refuse(field, "%v", err)
		}
		if !p.Covers(g) {
			return nil, refuse(field, "you have not got this yourself, by one grant")
		}
		grants = append(grants, g)
	}
	return grants, nil
}

// Me is who sends a request.
type Me struct {
	Name        string      `json:"name" doc:"As the audit has it."`
	User        string      `json:"user,omitempty" doc:"Name in the users file; missing for who is known elsewhere alone."`
	Token       string      `json:"token,omitempty" doc:"Name of the API token that was sent."`
	Session     string      `json:"session,omitempty" doc:"Key of the session."`
	Address     string      `json:"address,omitempty" doc:"Where the request came from."`
	Grants      []GrantInfo `json:"grants" nullable:"false" doc:"What you may do."`
	Within      []GrantInfo `json:"within,omitempty" nullable:"false" doc:"What narrows the grants: those of the token."`
	HasPassword bool        `json:"hasPassword" doc:"Whether you can change your password here."`
	NoGrants    string      `json:"noGrants,omitempty" doc:"That you may see nothing, for no grants were given to you, and who can give them; for people. Missing if you have some."`
}

// noGrants says to somebody without grants who can give him some; nothing to others.
func noGrants(p *access.Principal) string {
	switch {
	case len(p.Grants) > 0:
		return ""
	case p.User != "":
		return "No grants were given to you, so there is nothing that you may see. An admin of the console can give them, to the user " + brief.Quote(p.User) + "."
	}
	return "No grants were given to you, so there is nothing that you may see. Who runs the console can give them, to one of your groups."
}

// LogIn is the answer to a log-in. The session itself is in the cookie alone.
type LogIn struct {
	Name    string    `json:"name" doc:"Name of the user."`
	Session string    `json:"session" doc:"Key of the session. It is no secret."`
	Expires time.Time `json:"expires" doc:"When it ends at the latest."`
}

// LogInInput is a name with a password.
type LogInInput struct {
	WithHTTP
	Body struct {
		Name     string `json:"name" maxLength:"255" doc:"Name of the user."`
		Password string `json:"password" maxLength:"1024" writeOnly:"true" doc:"His password."`
	}
}

// PasswordChange is a password in the place of another one.
type PasswordChange struct {
	Old string `json:"old" maxLength:"1024" writeOnly:"true" doc:"The password until now."`
	New string `json:"new" maxLength:"1024" writeOnly:"true" doc:"12 to 256 bytes."`
}

// ChangePasswordInput is the request to change one's own password.
type ChangePasswordInput struct {
	WithHTTP
	Body PasswordChange
}

// myPasswordPath is where one's own password is changed, by the old one: a session that somebody else has got hold of must
// not last.
const myPasswordPath = Prefix + "/me/password"

func (a *API) addLogin() {
	register(a, signedIn, huma.Operation{
		OperationID: "get-me", Method: http.MethodGet, Path: Prefix + "/me", Tags: tagAccess, Summary: "Who you are, and what you may do",
	}, a.me)
	if a.Access == nil {
		return
	}
	limited := []int{http.StatusTooManyRequests, http.StatusServiceUnavailable}
	register(a, route.Need{Scope: route.Open}, huma.Operation{
		OperationID: "log-in", Method: http.MethodPost, Path: Prefix + "/login", Tags: tagAccess, Summary: "Log in by name and password",
		Description: "The answer sets the cookie of a session. After failures a log-in has to wait: header Retry-After of status 429 says how long.",
		Errors:      append([]int{http.StatusUnauthorized}, limited...),
	}, a.login)
	register(a, route.Need{Scope: route.Open}, huma.Operation{
		OperationID: "log-out", Method: http.MethodPost, Path: Prefix + "/logout", Tags: tagAccess, Summary: "End the session that the request came by",
		Description: "It takes the cookie away, too, also one that was over already. Whom a provider of OpenID Connect has logged in is still logged in " +
			"there: send the browser to the URL that the answer has.",
	}, a.logout)
	register(a, signedIn, huma.Operation{
		OperationID: "change-my-password", Method: http.MethodPut, Path: myPasswordPath, Tags: tagAccess, Summary: "Change your password",
		Description: "It needs the old one, also of an admin. It ends all your sessions, also the one that the request came by, and none of your tokens. A token cannot do it.",
		Errors:      append([]int{http.StatusForbidden, http.StatusConflict}, limited...),
	}, a.changePassword)
}

func (a *API) me(ctx context.Context, _ *struct{}) (*answer[Me], error) {
	p := access.From(ctx)
	me := Me{Name: p.Name, User: p.User, Token: p.Token, Address: p.Address, Grants: GrantInfos(p.Grants), NoGrants: noGrants(p)}
	if p.Within != nil {
		me.Within = GrantInfos(p.Within)
	}
	if p.BySession() {
		me.Session = p.Key
	}
	if a.Access != nil && p.User != "" && p.Token == "" {
		user, err := a.Access.User(p.User)
		if err != nil && !errors.Is(err, access.ErrNoUser) { // he may be removed at this moment
			return nil, err
		}
		me.HasPassword = user.HasPassword
	}
	return &answer[Me]{me}, nil
}

func (a *API) login(_ context.Context, in *LogInInput) (*answer[LogIn], error) {
	s, err := a.Access.BeginByPassword(in.writer, in.request, in.Body.Name, in.Body.Password)
	if err != nil {
		return nil, err
	}
	return &answer[LogIn]{LogIn{Name: s.User, Session: s.Key, Expires: s.Expires}}, nil
}

// LogOutInput is the request to log out.
type LogOutInput struct{ WithHTTP }

// LogOut is the answer to a log-out.
type LogOut struct {
	ProviderURL string `json:"providerURL,omitempty" doc:"Where the log-in at the provider ends. It sends the browser back to the console then. Missing for who has logged in otherwise, if the console's settings have no logoutURL, and if the provider offers no log-out, or is away."`
}

func (a *API) logout(ctx context.Context, in *LogOutInput) (*answer[LogOut], error) {
	p := access.From(ctx)
	a.Access.Logout(p)
	http.SetCookie(in.writer, a.Access.NoCookie(in.request))
	var out LogOut
	if a.LogoutURL != nil && p.BySession() {
		out.ProviderURL, _ = a.LogoutURL(ctx, p.Name) // the session here is over all the same; the log has why a provider is away
	}
	return &answer[LogOut]{out}, nil
}

func (a *API) changePassword(ctx context.Context, in *ChangePasswordInput) (*struct{}, error) {
	p, err := person(ctx)
	if err != nil {
		return nil, err
	}
	if user, err := a.Access.User(p.User); err == nil && !user.HasPassword {
		return nil, refuse("body.old", "you have no password yet: an admin gives you your first one")
	}
	err = a.Access.ChangePassword(ctx, p.User, in.Body.Old, in.Body.New, a.Access.Address(in.request))
	switch {
	case errors.Is(err, access.ErrRefused):
		return nil, refuse("body.old", "this is not your password")
	case errors.Is(err, access.ErrPassword):
		return nil, refuse("body.new", "%v", err)
	case err != nil:
		return nil, err
	}
	http.SetCookie(in.writer, a.Access.NoCookie(in.request))
	return nil, nil
}

// person returns who sends a request, if that is a user himself: his tokens must not get him others, or another
// password, by which they would live on.
func person(ctx context.Context) (*access.Principal, error) {
	p := access.From(ctx)
	switch {
	case p.Token != "":
		return nil, fmt.Errorf("%w: a token cannot do this, only its user", route.ErrDenied)
	case p.User == "":
		return nil, fmt.Errorf("%w: you are not in the users file of the console", route.ErrDenied)
	}
	return p, nil
}
