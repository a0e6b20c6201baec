package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/internal/route"
)

// usersPath is that of the users of the console.
const usersPath = Prefix + "/users"

// UserInfo is a user of the console.
type UserInfo struct {
	Name        string      `json:"name" doc:"Name of the user."`
	Grants      []GrantInfo `json:"grants" nullable:"false" doc:"What he may do."`
	HasPassword bool        `json:"hasPassword" doc:"Whether he can log in by a password."`
	Disabled    bool        `json:"disabled" doc:"Whether he cannot log in."`
	Created     time.Time   `json:"created,omitzero" doc:"When he was added. Left out if that is not known."`
	Tokens      []TokenInfo `json:"tokens" nullable:"false" doc:"His API tokens."`
	Sessions    int         `json:"sessions" doc:"How many go on."`
}

func userInfo(u access.UserInfo) UserInfo {
	return UserInfo{u.Name, GrantInfos(u.Grants), u.HasPassword, u.Disabled, u.Created, tokenInfos(u.Tokens), u.Sessions}
}

// InUser is the part of a request that says which user it is about.
type InUser struct {
	User string `path:"user" maxLength:"255" doc:"Name of the user." example:"anna"`
}

// NewUser is a user to be added.
type NewUser struct {
	Name     string      `json:"name" maxLength:"100" doc:"Name of the user: letters, digits, and any of . _ @ + - are allowed."`
	Password string      `json:"password,omitempty" maxLength:"1024" writeOnly:"true" doc:"12 to 256 bytes. Without one he cannot log in by a password."`
	Grants   []GrantInfo `json:"grants" nullable:"false" maxItems:"100" doc:"What he may do: nothing that you may not yourself."`
}

// AddUserInput is the request to add a user.
type AddUserInput struct{ Body NewUser }

// UserRights is what of a user can be changed.
type UserRights struct {
	Grants   []GrantInfo `json:"grants" nullable:"false" maxItems:"100" doc:"What he may do: nothing that you may not yourself."`
	Disabled bool        `json:"disabled" doc:"Disabling him ends his sessions."`
}

// SetUserInput is the request to change a user.
type SetUserInput struct {
	InUser
	InIfMatch
	Body UserRights
}

// SetPasswordInput is the request to set a user's password.
type SetPasswordInput struct {
	InUser
	Body struct {
		New string `json:"new" maxLength:"1024" writeOnly:"true" doc:"12 to 256 bytes."`
	}
}

// SessionInfo is a session of somebody.
type SessionInfo struct {
	Key     string    `json:"key" doc:"It is no secret."`
	User    string    `json:"user" doc:"Name of the user."`
	Address string    `json:"address,omitempty" doc:"Where he logged in."`
	Begun   time.Time `json:"begun" doc:"When it has begun."`
	Used    time.Time `json:"used" doc:"When it was last used."`
	Expires time.Time `json:"expires" doc:"When it ends at the latest."`
	Mine    bool      `json:"mine" doc:"Whether the request came by it."`
}

// InSession is the part of a request that says which session it is about.
type InSession struct {
	Session string `path:"session" maxLength:"255" doc:"Key of the session."`
}

// SessionsInput is the question for sessions.
type SessionsInput struct {
	User string `query:"user" maxLength:"255" doc:"Only those of this user."`
}

func (a *API) addUsers() {
	if a.Access == nil {
		return
	}
	everything := admin(route.Everything)
	conflict := []int{http.StatusConflict}
	register(a, everything, huma.Operation{
		OperationID: "list-users", Method: http.MethodGet, Path: usersPath, Tags: tagAccess, Summary: "Users of the console",
	}, a.users)
	register(a, everything, huma.Operation{
		OperationID: "add-user", Method: http.MethodPost, Path: usersPath, Tags: tagAccess, Summary: "Add a user", DefaultStatus: http.StatusCreated,
		Description: notByToken, Errors: conflict,
	}, a.addUser)
	register(a, everything, huma.Operation{
		OperationID: "get-user", Method: http.MethodGet, Path: usersPath + "/{user}", Tags: tagAccess, Summary: "A user",
	}, a.user)
	register(a, everything, huma.Operation{
		OperationID: "set-user", Method: http.MethodPut, Path: usersPath + "/{user}", Tags: tagAccess, Summary: "Replace the grants of a user, and disable or enable him",
		Description: "It counts from the next request of his on. The last admin for everything can neither lose that nor be disabled. If-Match is needed. " + notByToken,
		Errors:      []int{http.StatusConflict, http.StatusPreconditionFailed, http.StatusPreconditionRequired},
	}, a.setUser)
	register(a, everything, huma.Operation{
		OperationID: "set-password", Method: http.MethodPut, Path: usersPath + "/{user}/password", Tags: tagAccess, Summary: "Set the password of somebody else",
		Description: "It ends all of his sessions, and none of his tokens. Your own one needs the old one, and is set by " + myPasswordPath + ". " + notByToken, Errors: conflict,
	}, a.setPassword)
	register(a, everything, huma.Operation{
		OperationID: "remove-user", Method: http.MethodDelete, Path: usersPath + "/{user}", Tags: tagAccess, Summary: "Remove a user, with tokens and sessions",
		Description: "The last admin for everything cannot be removed.", Errors: conflict,
	}, a.removeUser)
	register(a, everything, huma.Operation{
		OperationID: "list-sessions", Method: http.MethodGet, Path: Prefix + "/sessions", Tags: tagAccess, Summary: "Sessions of everybody, the one that was used last first",
	}, a.sessions)
	register(a, everything, huma.Operation{
		OperationID: "end-session", Method: http.MethodDelete, Path: Prefix + "/sessions/{session}", Tags: tagAccess, Summary: "End a session of somebody",
	}, a.endSession)
	register(a, signedIn, huma.Operation{
		OperationID: "list-my-sessions", Method: http.MethodGet, Path: Prefix + "/me/sessions", Tags: tagAccess, Summary: "Your sessions",
		Errors: []int{http.StatusForbidden},
	}, a.mySessions)
	register(a, signedIn, huma.Operation{
		OperationID: "end-my-session", Method: http.MethodDelete, Path: Prefix + "/me/sessions/{session}", Tags: tagAccess, Summary: "End a session of yours",
		Errors: []int{http.StatusForbidden},
	}, a.endMySession)
}

func (a *API) users(context.Context, *struct{}) (*answer[List[UserInfo]], error) {
	var rows []UserInfo
	for _, u := range a.Access.Users() {
		rows = append(rows, userInfo(u))
	}
	return listed(rows), nil
}

func (a *API) user(_ context.Context, in *InUser) (*versioned[UserInfo], error) {
	u, err := a.Access.User(in.User)
	if err != nil {
		return nil, err
	}
	return &versioned[UserInfo]{ETag: etag(u.Version), Body: userInfo(u)}, nil
}

func (a *API) addUser(ctx context.Context, in *AddUserInput) (*versioned[UserInfo], error) {
	grants, err := grantsOf(ctx, in.Body.Grants)
	if err == nil {
		err = endsWithToken(ctx, in.Body.Name, grants)
	}
	if err != nil {
		return nil, err
	}
	err = a.Access.AddUser(ctx, actor(ctx), in.Body.Name, in.Body.Password, grants)
	switch {
	case errors.Is(err, access.ErrPassword):
		return nil, refuse("body.password", "%v", err)
	case errors.Is(err, access.ErrInvalid):
		return nil, refuse("body.name", "%v", err)
	case err != nil:
		return nil, err
	}
	return a.user(ctx, &InUser{in.Body.Name})
}

func (a *API) setUser(ctx context.Context, in *SetUserInput) (*versioned[UserInfo], error) {
	want, err := in.precondition()
	if err != nil {
		return nil, err
	}
	to := access.Rights{Disabled: in.Body.Disabled}
	if !want.isAny {
		to.Version = &want.version
	}
	if to.Grants, err = grantsOf(ctx, in.Body.Grants); err != nil {
		return nil, err
	}
	if err := endsWithToken(ctx, in.User, to.Grants); err != nil {
		return nil, err
	}
	if err := a.Access.SetUser(ctx, actor(ctx), in.User, to); err != nil {
		return nil, err
	}
	return a.user(ctx, &in.InUser)
}

func (a *API) setPassword(ctx context.Context, in *SetPasswordInput) (*struct{}, error) {
	user, err := a.Access.User(in.User)
	if err == nil {
		err = endsWithToken(ctx, in.User, user.Grants)
	}
	if err == nil && access.From(ctx).User == in.User {
		err = fmt.Errorf("%w: your own password needs the old one: use %s", route.ErrDenied, myPasswordPath)
	}
	if err != nil {
		return nil, err
	}
	err = a.Access.SetPassword(ctx, actor(ctx), in.User, in.Body.New)
	if errors.Is(err, access.ErrPassword) {
		return nil, refuse("body.new", "%v", err)
	}
	return nil, err
}

func (a *API) removeUser(ctx context.Context, in *InUser) (*struct{}, error) {
	return nil, a.Access.RemoveUser(ctx, actor(ctx), in.User)
}

func (a *API) sessions(ctx context.Context, in *SessionsInput) (*answer[List[SessionInfo]], error) {
	return listed(a.sessionInfos(ctx, in.User)), nil
}

func (a *API) sessionInfos(ctx context.Context, user string) []SessionInfo {
	var rows []SessionInfo
	mine := access.From(ctx).Key
	for _, s := range a.Access.Sessions(user) {
		rows = append(rows, SessionInfo{s.Key, s.User, s.Address, s.Began, s.Used, s.Expires, s.Key == mine})
	}
	return rows
}

func (a *API) endSession(ctx context.Context, in *InSession) (*struct{}, error) {
	return nil, a.Access.EndSession(actor(ctx), in.Session)
}

func (a *API) mySessions(ctx context.Context, _ *struct{}) (*answer[List[SessionInfo]], error) {
	p, err := logsIn(ctx)
	if err != nil {
		return nil, err
	}
	return listed(a.sessionInfos(ctx, p.Name)), nil
}

func (a *API) endMySession(ctx context.Context, in *InSession) (*struct{}, error) {
	p, err := logsIn(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range a.Access.Sessions(p.Name) {
		if s.Key == in.Session {
			return nil, a.Access.EndSession(actor(ctx), in.Session)
		}
	}
	return nil, access.ErrNoSession // also if it is somebody else's
}

// logsIn returns who sends a request, if he is one who has sessions.
func logsIn(ctx context.Context) (*access.Principal, error) {
	p := access.From(ctx)
	if p.User == "" && p.BySession() {
		return p, nil
	}
	return person(ctx)
}

const notByToken = "A token cannot do it for its own user, or for an admin of all namespaces, or of those that a pattern matches."

// endsWithToken returns an error if a token would get itself a way in that it does not end: one by its own user, or
// by another one who is admin of namespaces that nobody has counted: many patterns are everything together. A token that
// got out could not be revoked otherwise.
func endsWithToken(ctx context.Context, user string, grants []access.Grant) error {
	p := access.From(ctx)
	if p.Token == "" || user != p.User && !slices.ContainsFunc(grants, isWide) {
		return nil
	}
	return fmt.Errorf("%w: a token cannot do this for its own user, or for an admin of all namespaces, or of those that a pattern matches", route.ErrDenied)
}

func isWide(g access.Grant) bool {
	return g.Role >= access.Admin && (len(g.Namespaces) == 0 || strings.Contains(strings.Join(g.Namespaces, ""), "*"))
}

func actor(ctx context.Context) access.Actor { return access.ActorOf(access.From(ctx)) }
