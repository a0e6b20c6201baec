package access

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/fair"
	"github.com/elasticjob-go/elasticjob/internal/lockedfile"
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
	// More counts events of this kind, By and address that were not told one by one, because there were too many.
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

// Trail is a file to which events are appended, one JSON document in each line. When it has grown to 10 MiB, lines of
// 5 MiB move to Trail.1, that becomes Trail.2, and so on to Trail.5; what is older goes. The lines that move are the oldest
// ones of the user who has the most, so nobody pushes out those of others. What has no user, because a log-in was refused,
// counts as one user's, and in that the same is so for addresses. Whoever changes users beside the console, the command,
// appends to the same file.
type Trail string

// TrailOf returns the usual trail of a users file: users.yaml.log beside users.yaml.
func TrailOf(file string) Trail { return Trail(file + ".log") }

const (
	maxTrail  = 10 << 20     // bytes
	keepTrail = maxTrail / 2 // of them stay when it is full
	keptTrail = 5            // files
)

// Append appends an event. The file is opened for that alone: there are few events.
func (t Trail) Append(ctx context.Context, e Event) error {
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("trail %s: %w", t, err)
	}
	err = lockedfile.Change(ctx, string(t), func(path string) error {
		if info, err := os.Stat(path); err == nil && info.Size() >= maxTrail {
			if err := rotate(path, info); err != nil {
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
			_ = lockedfile.KeepOwner(f, folder) // who may not give it away keeps it: then the other one says that it cannot write
		}
	}
	_, err = f.Write(line)
	return errors.Join(err, f.Close())
}

// rotate moves the lines for which there is no room. A crash in between leaves some in both files.
func rotate(path string, info fs.FileInfo) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var files [2]bytes.Buffer // what stays, what goes
	lines := bytes.SplitAfter(content, []byte("\n"))
	for i, goes := range surplus(lines, keepTrail) {
		of := &files[0]
		if goes {
			of = &files[1]
		}
		_, _ = of.Write(lines[i]) // never fails
	}
	for i := keptTrail; i > 1; i-- {
		if err := os.Rename(path+"."+strconv.Itoa(i-1), path+"."+strconv.Itoa(i)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := lockedfile.Replace(path+".1", files[1].Bytes(), info); err != nil {
		return err
	}
	return lockedfile.Replace(path, files[0].Bytes(), info)
}

// surplus reports which lines go so that the others have so many bytes: of users first, then of the addresses of those
// who are nobody yet. Else somebody with many addresses would count as many.
func surplus(lines [][]byte, most int) []bool {
	all := make([]fair.Entry, len(lines))
	var nobodys []fair.Entry
	var indexes []int // of these
	for i, line := range lines {
		var e Event
		_ = json.Unmarshal(line, &e) // half a line, of a crash, is nobody's
		all[i] = fair.Entry{Owner: fair.Owner(e.By), Size: len(line)}
		if e.By == "" {
			nobodys = append(nobodys, fair.Entry{Owner: e.Address, Size: len(line)})
			indexes = append(indexes, i)
		}
	}
	goes, theirs := fair.Drop(all, most), 0
	for _, i := range indexes {
		if !goes[i] {
			theirs += all[i].Size
		}
	}
	for n, drop := range fair.Drop(nobodys, theirs) {
		goes[indexes[n]] = drop
	}
	return goes
}
