package access

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// UserInfo is a user as others see him.
type UserInfo struct {
	Name   string  `json:"name"`
	Grants []Grant `json:"grants"`
	// Version is that of Grants and Disabled, for [Control.SetUser].
	Version int64 `json:"version"`
	// HasPassword is whether he can log in by a password.
	HasPassword bool        `json:"hasPassword"`
	Disabled    bool        `json:"disabled"`
	Created     time.Time   `json:"created,omitzero"`
	Tokens      []TokenInfo `json:"tokens"`
	// Sessions counts those that go on.
	Sessions int `json:"sessions"`
}

// TokenInfo is a token as others see it. Nobody can see the token again.
type TokenInfo struct {
	User string `json:"user"`
	Name string `json:"name"`
	// Grants narrow those of the user; none leaves them as they are.
	Grants  []Grant   `json:"grants,omitempty"`
	Created time.Time `json:"created,omitzero"`
	// Expires is missing if it never does.
	Expires time.Time `json:"expires,omitzero"`
	Expired bool      `json:"expired"`
	// Used is when it was last used, to the minute; missing if it never was.
	Used time.Time `json:"used,omitzero"`
}

// Users returns all users, by name.
func (c *Control) Users() []UserInfo {
	r := c.users.roster()
	all := make([]UserInfo, 0, len(r.users.Users))
	sessions := map[string]int{}
	for _, s := range c.sessions.list() {
		if s.Account != "" && r.has(s) {
			sessions[s.Account]++
		}
	}
	for _, name := range r.users.Names() {
		all = append(all, c.info(name, r.users.Users[name], sessions[name]))
	}
	return all
}

// User returns a user.
//
// Errors: ErrNoUser.
func (c *Control) User(name string) (UserInfo, error) {
	user, err := c.users.roster().users.User(name)
	if err != nil {
		return UserInfo{}, err
	}
	return c.info(name, user, len(c.Sessions(name))), nil
}

func (c *Control) info(name string, user *User, sessions int) UserInfo {
	info := UserInfo{
		Name: name, Grants: clone(user.Grants), Version: user.Version(), HasPassword: user.Password != "", Disabled: user.Disabled, Created: user.Created,
		Tokens: []TokenInfo{}, Sessions: sessions,
	}
	for _, token := range slices.Sorted(maps.Keys(user.Tokens)) {
		info.Tokens = append(info.Tokens, c.tokenInfo(name, token, user.Tokens[token]))
	}
	return info
}

func (c *Control) tokenInfo(user, name string, t *Token) TokenInfo {
	return TokenInfo{
		User: user, Name: name, Grants: clone(t.Grants), Created: t.Created, Expires: t.Expires,
		Expired: t.isExpired(time.Now()), Used: c.uses.of(t.ID()),
	}
}

// AddUser adds a user, who has no password if it is empty.
//
// Errors: those of [Users.Add] and [File.Change]; ErrReadOnly.
func (c *Control) AddUser(ctx context.Context, by Actor, name, password string, grants []Grant) error {
	e := Event{Kind: UserAdded, User: name, Detail: describe(grants, false)}
	return c.change(ctx, by, e, func(u *Users) error { return u.Add(name, password, grants) })
}

// Rights are what of a user is changed at once.
type Rights struct {
	Grants   []Grant
	Disabled bool
	// Version is the one that the user has to have; nil for any.
	Version *int64
}

// SetUser replaces the grants of a user, and keeps him out or lets him in.
//
// Errors: ErrChanged; those of [Users.SetGrants] and [File.Change]; ErrReadOnly.
func (c *Control) SetUser(ctx context.Context, by Actor, name string, to Rights) error {
	e := Event{Kind: UserChanged, User: name, Detail: describe(to.Grants, to.Disabled)}
	return c.change(ctx, by, e, func(u *Users) error {
		user, err := u.User(name)
		switch {
		case err != nil:
			return err
		case to.Version != nil && *to.Version != user.Version():
			return fmt.Errorf("user %s: %w", brief.Quote(name), ErrChanged)
		}
		if err := u.SetGrants(name, to.Grants); err != nil {
			return err
		}
		return u.Disable(name, to.Disabled)
	})
}

// SetPassword sets the password of a user, and ends his sessions. It is for those of others: see ChangePassword.
//
// Errors: those of [Users.SetPassword] and [File.Change]; ErrReadOnly.
func (c *Control) SetPassword(ctx context.Context, by Actor, name, password string) error {
	return c.change(ctx, by, Event{Kind: PasswordChanged, User: name}, func(u *Users) error { return u.SetPassword(name, password) })
}

// ChangePassword is SetPassword for a user himself, who has to know the old one. It ends all of his sessions, also the
// one that the request came by.
//
// Errors: those of SetPassword and [Control.Login].
func (c *Control) ChangePassword(ctx context.Context, name, old, password string, from netip.Addr) error {
	if _, _, err := c.check(ctx, name, old, from); err != nil {
		return err
	}
	return c.SetPassword(ctx, Actor{Name: name, Address: text(from)}, name, password)
}

// RemoveUser removes a user with his tokens and sessions.
//
// Errors: those of [Users.Remove] and [File.Change]; ErrReadOnly.
func (c *Control) RemoveUser(ctx context.Context, by Actor, name string) error {
	return c.change(ctx, by, Event{Kind: UserRemoved, User: name}, func(u *Users) error { return u.Remove(name) })
}

// AddToken adds a token to a user, and returns it: nobody can see it again. See [Users.AddToken].
//
// Errors: those of Users.AddToken and [File.Change]; ErrReadOnly.
func (c *Control) AddToken(ctx context.Context, by Actor, user, name string, grants []Grant, life time.Duration) (secret string, info TokenInfo, err error) {
	e := Event{Kind: TokenCreated, User: user, Token: name, Detail: describe(grants, false)}
	err = c.change(ctx, by, e, func(u *Users) error {
		if secret, err = u.AddToken(user, name, grants, life); err != nil {
			return err
		}
		info = c.tokenInfo(user, name, u.Users[user].Tokens[name])
		return nil
	})
	if err != nil {
		return "", TokenInfo{}, err
	}
	return secret, info, nil
}

// RevokeToken removes a token.
//
// Errors: those of [Users.RevokeToken] and [File.Change]; ErrReadOnly.
func (c *Control) RevokeToken(ctx context.Context, by Actor, user, name string) error {
	return c.change(ctx, by, Event{Kind: TokenRevoked, User: user, Token: name}, func(u *Users) error { return u.RevokeToken(user, name) })
}

// change changes the users file, ends the sessions that are over by that, and tells of it.
func (c *Control) change(ctx context.Context, by Actor, e Event, change func(*Users) error) error {
	if c.o.File == "" {
		return ErrReadOnly
	}
	c.disk.Lock()
	err := c.o.File.Change(ctx, change)
	c.disk.Unlock()
	if err != nil {
		return err
	}
	r := c.users.roster()
	c.sessions.endIf(func(s session) bool { return !r.has(s) })
	e.By, e.Address = by.Name, by.Address
	c.tell(e)
	return nil
}

// describe writes grants for people.
func describe(grants []Grant, isDisabled bool) string {
	const most = 500
	var texts []string
	for _, g := range grants {
		texts = append(texts, g.String())
	}
	text := brief.Cut(strings.Join(texts, " "), most)
	if isDisabled {
		text = strings.TrimSpace("disabled " + text)
	}
	return text
}
