package access

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// Kind is what an event is about.
type Kind string

// Kinds of events.
const (
	LoggedIn        Kind = "logged in"
	LogInRefused    Kind = "log-in refused" // of whatever way to log in
	LogInLimited    Kind = "log-in limited"
	LoggedOut       Kind = "logged out"
	SessionEnded    Kind = "session ended" // by somebody else
	UserAdded       Kind = "user added"
	UserChanged     Kind = "user changed"
	PasswordChanged Kind = "password changed"
	UserRemoved     Kind = "user removed"
	TokenCreated    Kind = "token created"
	TokenRevoked    Kind = "token revoked"
	FileBad         Kind = "users file bad"
	FileGood        Kind = "users file good again"
)

// Event is a log-in, or a change of users. It never has a password, a hash, a token, or a cookie.
type Event struct {
	Time time.Time `json:"time"`
	Kind Kind      `json:"kind"`
	// By is who did it; empty for a log-in that was refused.
	By string `json:"by,omitempty"`
	// Address is where it came from.
	Address string `json:"address,omitempty"`
	// User is whom it is about. A name that nobody has is left out: some people type their password there.
	User  string `json:"user,omitempty"`
	Token string `json:"token,omitempty"`
	// Session is the key of the session.
	Session string `json:"session,omitempty"`
	Detail  string `json:"detail,omitempty"`
	// More counts events of this kind and address that were not told one by one, because there were too many.
	More int `json:"more,omitempty"`
}

// Actor is who changes users.
type Actor struct{ Name, Address string }

// ActorOf returns the principal as an actor.
func ActorOf(p *Principal) Actor {
	if p == nil {
		return Actor{}
	}
	return Actor{Name: p.Name, Address: p.Address}
}

// Trail is a file to which events are appended, one JSON document in each line. When it has grown to 10 MiB it becomes
// Trail.1, that Trail.2, and so on to Trail.5; what is older goes. Whoever changes users beside the console, the
// command, appends to the same file.
type Trail string

// TrailOf returns the usual trail of a users file: users.yaml.log beside users.yaml.
func TrailOf(file string) Trail { return Trail(file + ".log") }

const (
	maxTrail  = 10 << 20 // bytes
	keptTrail = 5        // files
)

// Append appends an event. The file is opened for that alone: there are few events.
func (t Trail) Append(ctx context.Context, e Event) error {
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("trail %s: %w", t, err)
	}
	err = File(t).locked(ctx, func(path string) error {
		if info, err := os.Stat(path); err == nil && info.Size() >= maxTrail {
			if err := rotate(path); err != nil {
				return err
			}
		}
		return appendLine(path, append(line, '\n'))
	})
	if err != nil {
		return fmt.Errorf("trail %s: %w", t, err)
	}
	return nil
}

func appendLine(path string, line []byte) error {
	_, missing := os.Stat(path)
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if errors.Is(missing, fs.ErrNotExist) {
		if folder, err := os.Stat(filepath.Dir(path)); err == nil {
			_ = keepOwner(f, folder) // who may not give it away keeps it: then the other one says that it cannot write
		}
	}
	_, err = f.Write(line)
	return errors.Join(err, f.Close())
}

func rotate(path string) error {
	for i := keptTrail; i > 0; i-- {
		from := path
		if i > 1 {
			from += "." + strconv.Itoa(i-1)
		}
		if err := os.Rename(from, path+"."+strconv.Itoa(i)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
