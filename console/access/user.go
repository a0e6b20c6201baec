package access

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// Bounds of the users file.
const (
	MaxUsers  = 10_000
	MaxTokens = 100 // of one user
	maxFile   = 32 << 20
)

// Lives of API tokens.
const (
	TokenLife    = 90 * 24 * time.Hour  // unless another one is given
	MaxTokenLife = 365 * 24 * time.Hour // unless Never is
	// Never is the life of a token that does not expire.
	Never time.Duration = -1
)

// User is somebody in the users file.
type User struct {
	// Password is the hash of his password. Without one he cannot log in by a password; his tokens, and a trusted
	// proxy, still know him.
	Password Hash      `yaml:"password,omitempty"`
	Grants   []Grant   `yaml:"grants,omitempty"`
	Disabled bool      `yaml:"disabled,omitempty"`
	Created  time.Time `yaml:"created,omitempty"`
	// Ended ends the sessions that began before.
	Ended  time.Time         `yaml:"ended,omitempty"`
	Tokens map[string]*Token `yaml:"tokens,omitempty"`
}

// Version is another one whenever his grants, or whether he is disabled, are others.
func (u *User) Version() int64 {
	h := sha256.New()
	fmt.Fprintln(h, u.Disabled, len(u.Grants))
	for _, g := range u.Grants {
		fmt.Fprintf(h, "%d %q %q\n", g.Role, g.Namespaces, g.Jobs)
	}
	return int64(binary.BigEndian.Uint64(h.Sum(nil)) >> 1)
}

// Token lets a script in, in the name of a user.
type Token struct {
	// Hash is the SHA-256 of the token, hexadecimal. A token has 256 random bits, which nobody guesses however fast
	// each try is: a slow hash, as passwords need it, would only cost time.
	Hash string `yaml:"hash"`
	// Grants narrow those of the user, at each request; none leaves them as they are.
	Grants  []Grant   `yaml:"grants,omitempty"`
	Created time.Time `yaml:"created,omitempty"`
	Expires time.Time `yaml:"expires,omitempty"` // zero: never
}

// ID names the token without being able to use it.
func (t *Token) ID() string { return t.Hash[:16] }

func (t *Token) isExpired(now time.Time) bool { return !t.Expires.IsZero() && !now.Before(t.Expires) }

// Users are all that a users file has. Its methods change it in memory alone: see [File.Change].
type Users struct {
	Users map[string]*User `yaml:"users"`
}

// CheckName returns ErrInvalid for a name that no user and no token can have.
func CheckName(name string) error {
	const longest = 100
	isOther := func(r rune) bool { return !isLetterOrDigit(r) && !strings.ContainsRune("._@+-", r) }
	if name == "" || len(name) > longest || !isLetterOrDigit(rune(name[0])) || strings.ContainsFunc(name, isOther) {
		return fmt.Errorf("name %s: %w: allowed are 1 to %d letters, digits, and any of . _ @ + -, a letter or digit first", brief.Quote(name), ErrInvalid, longest)
	}
	return nil
}

func isLetterOrDigit(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
}

// Names returns the names of all users, ascending.
func (u *Users) Names() []string { return slices.Sorted(maps.Keys(u.Users)) }

// User returns a user.
//
// Errors: ErrNoUser.
func (u *Users) User(name string) (*User, error) {
	if found := u.Users[name]; found != nil {
		return found, nil
	}
	return nil, fmt.Errorf("user %s: %w", brief.Quote(name), ErrNoUser)
}

// Add adds a user. password may be empty: see [User].
//
// Errors: ErrInvalid, ErrPassword, ErrExists.
func (u *Users) Add(name, password string, grants []Grant) error {
	if u.Users[name] != nil {
		return fmt.Errorf("user %s: %w", brief.Quote(name), ErrExists)
	}
	if err := CheckName(name); err != nil {
		return err
	}
	if len(u.Users) >= MaxUsers {
		return fmt.Errorf("user %s: %w: there are %d users, and no more can be", brief.Quote(name), ErrInvalid, MaxUsers)
	}
	user := &User{Created: now()}
	if err := user.setGrants(grants); err != nil {
		return err
	}
	if password != "" {
		if err := CheckPassword(name, password); err != nil {
			return err
		}
		user.Password = NewHash(password)
	}
	if u.Users == nil {
		u.Users = map[string]*User{}
	}
	u.Users[name] = user
	return nil
}

// SetPassword sets the password of a user, and ends his sessions.
//
// Errors: ErrNoUser, ErrPassword.
func (u *Users) SetPassword(name, password string) error {
	user, err := u.User(name)
	if err != nil {
		return err
	}
	if err := CheckPassword(name, password); err != nil {
		return err
	}
	user.Password, user.Ended = NewHash(password), now()
	return nil
}

// SetGrants replaces the grants of a user. His sessions and tokens have the new ones at once.
//
// Errors: ErrNoUser, ErrInvalid, ErrLastAdmin.
func (u *Users) SetGrants(name string, grants []Grant) error {
	return u.change(name, func(user *User) error { return user.setGrants(grants) })
}

// Disable keeps a user out, and ends his sessions, or lets him in again.
//
// Errors: ErrNoUser, ErrLastAdmin.
func (u *Users) Disable(name string, isDisabled bool) error {
	return u.change(name, func(user *User) error {
		if isDisabled && !user.Disabled {
			user.Ended = now()
		}
		user.Disabled = isDisabled
		return nil
	})
}

// EndSessions ends the sessions of a user.
//
// Errors: ErrNoUser.
func (u *Users) EndSessions(name string) error {
	user, err := u.User(name)
	if err == nil {
		user.Ended = now()
	}
	return err
}

// Remove removes a user with his tokens.
//
// Errors: ErrNoUser, ErrLastAdmin.
func (u *Users) Remove(name string) error {
	err := u.change(name, func(user *User) error {
		user.Disabled = true
		return nil
	})
	if err == nil {
		delete(u.Users, name)
	}
	return err
}

// change changes a user, unless that takes away the last admin.
func (u *Users) change(name string, change func(*User) error) error {
	user, err := u.User(name)
	if err != nil {
		return err
	}
	before := *user
	err = change(user)
	if err == nil && before.isAdmin() && !u.hasAdmin() {
		err = fmt.Errorf("user %s: %w", brief.Quote(name), ErrLastAdmin)
	}
	if err != nil {
		*user = before
	}
	return err
}

func (u *Users) hasAdmin() bool {
	for _, user := range u.Users {
		if user.isAdmin() {
			return true
		}
	}
	return false
}

func (u *User) isAdmin() bool { return !u.Disabled && anyCovers(u.Grants, everything) }

func (u *User) setGrants(grants []Grant) error {
	if err := ValidateGrants(grants); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	u.Grants = clone(grants)
	return nil
}

// tokenPrefix begins every token, so that it can be found where it does not belong.
const tokenPrefix = "ej_"

// AddToken adds a token to a user, and returns it: it cannot be seen again. grants narrow those of the user.
// life is how long it counts: 0 is TokenLife, the longest MaxTokenLife; Never must be said.
//
// Errors: ErrNoUser, ErrInvalid, ErrExists.
func (u *Users) AddToken(user, name string, grants []Grant, life time.Duration) (secret string, err error) {
	owner, err := u.User(user)
	if err != nil {
		return "", err
	}
	if err := errors.Join(CheckName(name), ValidateGrants(grants)); err != nil {
		return "", fmt.Errorf("token: %w: %w", ErrInvalid, err)
	}
	switch {
	case owner.Tokens[name] != nil:
		return "", fmt.Errorf("token %s of user %s: %w", brief.Quote(name), brief.Quote(user), ErrExists)
	case len(owner.Tokens) >= MaxTokens:
		return "", fmt.Errorf("token %s: %w: user %s has %d, and can have no more", brief.Quote(name), ErrInvalid, brief.Quote(user), MaxTokens)
	}
	token := &Token{Created: now(), Grants: clone(grants)}
	switch {
	case life == 0:
		token.Expires = token.Created.Add(TokenLife)
	case life > 0 && life <= MaxTokenLife:
		token.Expires = token.Created.Add(life)
	case life != Never:
		return "", fmt.Errorf("token %s: expires after %v: %w: allowed are times up to %v, or never", brief.Quote(name), life, ErrInvalid, MaxTokenLife)
	}
	secret = tokenPrefix + random()
	token.Hash = tokenHash(secret)
	if owner.Tokens == nil {
		owner.Tokens = map[string]*Token{}
	}
	owner.Tokens[name] = token
	return secret, nil
}

// RevokeToken removes a token.
//
// Errors: ErrNoUser, ErrNoToken.
func (u *Users) RevokeToken(user, name string) error {
	owner, err := u.User(user)
	if err != nil {
		return err
	}
	if owner.Tokens[name] == nil {
		return fmt.Errorf("token %s of user %s: %w", brief.Quote(name), brief.Quote(user), ErrNoToken)
	}
	delete(owner.Tokens, name)
	return nil
}

func tokenHash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// random returns 256 random bits as text.
func random() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

func now() time.Time { return time.Now().UTC().Round(0) }

// validate returns what is wrong with a file that was read, with user and token.
func (u *Users) validate() error {
	if len(u.Users) > MaxUsers {
		return fmt.Errorf("%d users; allowed are %d", len(u.Users), MaxUsers)
	}
	owners := map[string]string{} // by hash of the token
	for _, name := range u.Names() {
		user := u.Users[name]
		if user == nil {
			return fmt.Errorf("user %s: it is empty", brief.Quote(name))
		}
		err := errors.Join(CheckName(name), ValidateGrants(user.Grants))
		if user.Password != "" {
			err = errors.Join(err, user.Password.Validate())
		}
		for _, token := range slices.Sorted(maps.Keys(user.Tokens)) {
			if bad := user.Tokens[token].validate(token, owners); bad != nil {
				err = errors.Join(err, fmt.Errorf("token %s: %w", brief.Quote(token), bad))
			}
		}
		if len(user.Tokens) > MaxTokens {
			err = errors.Join(err, fmt.Errorf("%d tokens; allowed are %d", len(user.Tokens), MaxTokens))
		}
		if err != nil {
			return fmt.Errorf("user %s: %w", brief.Quote(name), err)
		}
	}
	return nil
}

func (t *Token) validate(name string, owners map[string]string) error {
	if t == nil {
		return errors.New("it is empty")
	}
	sum, err := hex.DecodeString(t.Hash)
	if err != nil || len(sum) != sha256.Size || strings.ToLower(t.Hash) != t.Hash {
		return errors.New("hash is no SHA-256, as 64 hexadecimal digits in small letters")
	}
	if other, ok := owners[t.ID()]; ok {
		return fmt.Errorf("it is the same as token %s", brief.Quote(other))
	}
	owners[t.ID()] = name
	return errors.Join(CheckName(name), ValidateGrants(t.Grants))
}
