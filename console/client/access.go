package client

import (
	"context"
	"net/http"
	"time"

	"github.com/elasticjob-go/elasticjob/console/access"
)

// Me is who the client is, and what he may do.
type Me struct {
	Name        string         `json:"name"` // as the audit has it
	User        string         `json:"user,omitempty"`
	Token       string         `json:"token,omitempty"`
	Session     string         `json:"session,omitempty"`
	Address     string         `json:"address,omitempty"`
	Grants      []access.Grant `json:"grants"`
	Within      []access.Grant `json:"within,omitempty"` // what narrows them: those of the token
	HasPassword bool           `json:"hasPassword"`
	NoGrants    string         `json:"noGrants,omitempty"` // for people, if there are no grants: who can give some
}

// Me returns who the client is.
//
// Errors: ErrNotLoggedIn.
func (c *Client) Me(ctx context.Context) (Me, error) { return get[Me](ctx, c, nil, "me") }

// send sends a change of the console itself.
func (c *Client) send(ctx context.Context, method string, body, out any, path ...string) error {
	return c.do(ctx, call{method: method, path: path, body: body, out: out})
}

// ChangePassword changes the caller's password, if old is the one until now, which ends all his sessions. A token cannot do
// it.
func (c *Client) ChangePassword(ctx context.Context, old, next string) error {
	return c.send(ctx, http.MethodPut, struct {
		Old string `json:"old"`
		New string `json:"new"`
	}{old, next}, nil, "me", "password")
}

// Session is a session of somebody.
type Session struct {
	Key     string    `json:"key"`
	User    string    `json:"user"`
	Address string    `json:"address,omitempty"`
	Begun   time.Time `json:"begun"`
	Used    time.Time `json:"used"`
	Expires time.Time `json:"expires"`
	Mine    bool      `json:"mine"` // the request came by it
}

// MySessions returns the caller's sessions.
func (c *Client) MySessions(ctx context.Context) ([]Session, error) {
	return rows[Session](ctx, c, query(), "me", "sessions")
}

// EndMySession ends a session of the caller.
func (c *Client) EndMySession(ctx context.Context, key string) error {
	return c.send(ctx, http.MethodDelete, nil, nil, "me", "sessions", key)
}

// Sessions returns the sessions of a user, or of everybody if it is empty.
func (c *Client) Sessions(ctx context.Context, user string) ([]Session, error) {
	return rows[Session](ctx, c, query().text("user", user), "sessions")
}

// EndSession ends a session of somebody.
func (c *Client) EndSession(ctx context.Context, key string) error {
	return c.send(ctx, http.MethodDelete, nil, nil, "sessions", key)
}

// NewToken is a token to be made.
type NewToken struct {
	Name         string         `json:"name"`
	Grants       []access.Grant `json:"grants,omitempty"` // they narrow those of the user
	Days         int            `json:"days,omitempty"`   // default 90
	NeverExpires bool           `json:"neverExpires,omitempty"`
}

// MadeToken is a token that was made. It cannot be seen again.
type MadeToken struct {
	Token string           `json:"token"`
	Info  access.TokenInfo `json:"info"`
}

// MyTokens returns the caller's tokens.
func (c *Client) MyTokens(ctx context.Context) ([]access.TokenInfo, error) {
	return rows[access.TokenInfo](ctx, c, query(), "me", "tokens")
}

// AddMyToken makes a token of the caller.
func (c *Client) AddMyToken(ctx context.Context, t NewToken) (out MadeToken, err error) {
	err = c.send(ctx, http.MethodPost, t, &out, "me", "tokens")
	return out, err
}

// RevokeMyToken revokes a token of the caller.
func (c *Client) RevokeMyToken(ctx context.Context, name string) error {
	return c.send(ctx, http.MethodDelete, nil, nil, "me", "tokens", name)
}

// Tokens returns the tokens of a user.
func (c *Client) Tokens(ctx context.Context, user string) ([]access.TokenInfo, error) {
	return rows[access.TokenInfo](ctx, c, query(), "users", user, "tokens")
}

// AddToken makes a token of a user.
func (c *Client) AddToken(ctx context.Context, user string, t NewToken) (out MadeToken, err error) {
	err = c.send(ctx, http.MethodPost, t, &out, "users", user, "tokens")
	return out, err
}

// RevokeToken revokes a token of a user.
func (c *Client) RevokeToken(ctx context.Context, user, name string) error {
	return c.send(ctx, http.MethodDelete, nil, nil, "users", user, "tokens", name)
}

// NewUser is a user to be added.
type NewUser struct {
	Name     string         `json:"name"`
	Password string         `json:"password,omitempty"` // without one he cannot log in by a password
	Grants   []access.Grant `json:"grants"`
}

// Users returns the users of the console, by name.
func (c *Client) Users(ctx context.Context) ([]access.UserInfo, error) {
	return rows[access.UserInfo](ctx, c, query(), "users")
}

// User is a user of the console.
type User struct {
	access.UserInfo
	// ETag is for SetUser.
	ETag string `json:"-"`
}

// User returns a user.
//
// Errors: access.ErrNoUser.
func (c *Client) User(ctx context.Context, name string) (u User, err error) {
	err = c.do(ctx, call{method: http.MethodGet, path: []string{"users", name}, out: &u, etag: &u.ETag})
	return u, err
}

// AddUser adds a user.
func (c *Client) AddUser(ctx context.Context, u NewUser) (out User, err error) {
	if u.Grants == nil {
		u.Grants = []access.Grant{}
	}
	err = c.do(ctx, call{method: http.MethodPost, path: []string{"users"}, body: u, out: &out, etag: &out.ETag})
	return out, err
}

// SetUser replaces the grants of a user, and disables or enables him, if he is that of an ETag, or Any.
//
// Errors: ErrChanged, which is access.ErrChanged, too; access.ErrLastAdmin.
func (c *Client) SetUser(ctx context.Context, name string, grants []access.Grant, disabled bool, etag string) (out User, err error) {
	if grants == nil {
		grants = []access.Grant{}
	}
	body := struct {
		Grants   []access.Grant `json:"grants"`
		Disabled bool           `json:"disabled"`
	}{grants, disabled}
	err = c.do(ctx, call{method: http.MethodPut, path: []string{"users", name}, header: map[string]string{"If-Match": etag}, body: body, out: &out, etag: &out.ETag})
	return out, err
}

// SetPassword sets the password of somebody else, which ends his sessions. The caller's own one needs the old one: see
// ChangePassword.
func (c *Client) SetPassword(ctx context.Context, name, password string) error {
	return c.send(ctx, http.MethodPut, struct {
		New string `json:"new"`
	}{password}, nil, "users", name, "password")
}

// RemoveUser removes a user, with his tokens and sessions.
func (c *Client) RemoveUser(ctx context.Context, name string) error {
	return c.send(ctx, http.MethodDelete, nil, nil, "users", name)
}
