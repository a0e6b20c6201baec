package access

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
)

// roster is a users file as it was last read well.
type roster struct {
	users  *Users
	tokens map[string]owned // by hash
	names  []string         // of those who have a password, ascending
}

// owned is a token with whose it is.
type owned struct {
	user, name string
	token      *Token
}

func newRoster(users *Users) *roster {
	r := &roster{users: users, tokens: map[string]owned{}}
	for _, name := range users.Names() {
		user := users.Users[name]
		if user.Password != "" {
			r.names = append(r.names, name)
		}
		for token, t := range user.Tokens {
			r.tokens[t.Hash] = owned{name, token, t}
		}
	}
	return r
}

// has reports whether the user of a session is still who logged in.
func (r *roster) has(s session) bool {
	if s.Account == "" {
		return true
	}
	user := r.users.Users[s.Account]
	return user != nil && !user.Disabled && user.Password.sum() == s.Password && !s.Began.Before(user.Ended)
}

// hashOf returns the hash that a password is checked against. For a name that has none it is that of somebody else,
// always the same one: so the check takes as long as for a name that has one.
func (r *roster) hashOf(name string, key []byte) (h Hash, isOwn bool) {
	if user := r.users.Users[name]; user != nil && user.Password != "" {
		return user.Password, true
	}
	if len(r.names) == 0 {
		return nobody, false
	}
	i := binary.BigEndian.Uint64(sum(key, "nobody", name)) % uint64(len(r.names))
	return r.users.Users[r.names[i]].Password, false
}

// nobody is a hash of no password that anybody knows.
const nobody Hash = "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

// sum is the HMAC of texts; the purpose keeps sums for other purposes apart. No text but the last may have a zero byte.
func sum(key []byte, purpose string, texts ...string) []byte {
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write([]byte(purpose)) // a hash never fails
	for _, text := range texts {
		_, _ = mac.Write([]byte("\x00" + text)) // as above
	}
	return mac.Sum(nil)
}

// watched is a users file that is read anew when it changes. One that has become bad does not count: the users stay
// as they were, and that is a fault.
type watched struct {
	file    File
	told    func(Event)
	changes *changes

	mu    sync.Mutex
	now   *roster
	seen  fs.FileInfo // of the file that was read last, good or bad; nil if there was none
	fault error
}

func watch(file File, told func(Event), changes *changes) (*watched, error) {
	w := &watched{file: file, told: told, changes: changes, now: newRoster(&Users{})}
	if file == "" {
		return w, nil
	}
	users, info, err := file.read()
	if err != nil {
		return nil, err
	}
	w.now, w.seen = newRoster(users), info
	return w, nil
}

// roster returns the users as the file has them now. It costs a look at the file's date, so that who was removed
// is nobody from the next request on.
func (w *watched) roster() *roster {
	if w.file == "" {
		return w.now
	}
	r, events := w.look()
	for _, e := range events {
		w.told(e)
	}
	return r
}

// look reads the file if it is another one than before, and returns what is to be told of that.
func (w *watched) look() (*roster, []Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	info, err := os.Stat(string(w.file))
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("users file %s: %w", w.file, ErrNoFile)
	}
	if err == nil {
		if w.seen != nil && same(w.seen, info) {
			return w.now, nil
		}
		var users *Users
		var read fs.FileInfo
		if users, read, err = w.file.read(); err == nil {
			info, w.now = read, newRoster(users)
			w.changes.tell()
		}
	}
	w.seen = info
	before := w.fault
	w.fault = err
	switch {
	case err != nil && (before == nil || before.Error() != err.Error()):
		return w.now, []Event{{Kind: FileBad, Detail: err.Error() + "; the users stay as they were"}}
	case err == nil && before != nil:
		return w.now, []Event{{Kind: FileGood}}
	}
	return w.now, nil
}

func same(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size() && a.Mode() == b.Mode()
}

// bad returns why the file does not count.
func (w *watched) bad() error {
	w.roster()
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.fault
}
