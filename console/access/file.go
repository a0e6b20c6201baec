package access

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"go.yaml.in/yaml/v4"

	"github.com/elasticjob-go/elasticjob/internal/lockedfile"
	"github.com/elasticjob-go/elasticjob/internal/yamldoc"
)

// File is a users file.
//
//	users:
//	  anna:
//	    password: $argon2id$v=19$m=19456,t=2,p=1$…
//	    grants:
//	      - role: admin
//	  ben:
//	    password: $2y$12$…
//	    grants:
//	      - {role: operator, namespaces: [prod*], jobs: [pay-*, bill]}
//	    tokens:
//	      deploy: {hash: 9f86d0…, grants: [{role: viewer}], expires: 2026-11-02T00:00:00Z}
//
// It is for its owner alone (mode 0600); its group may read it too, since that is how Kubernetes hands out
// secrets. Every other right of others is an error: [ErrExposed].
//
// Any number of processes may change it at the same time: each does so under a lock (flock of the folder), and
// puts a whole new file in the place of the old one. An editor does not take the lock. What is a comment in
// the file does not survive a change.
type File string

// Read reads the file.
//
// Errors: ErrNoFile, ErrExposed, and what is wrong with line, user and field. None has a hash in it.
func (f File) Read() (*Users, error) {
	users, _, err := f.read()
	return users, err
}

// read also returns what the file looked like.
func (f File) read() (*Users, fs.FileInfo, error) {
	open, err := os.Open(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("users file %s: %w", f, ErrNoFile)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("users file: %w", err)
	}
	defer func() { _ = open.Close() }() // it was only read
	info, err := open.Stat()
	if err != nil {
		return nil, nil, fmt.Errorf("users file: %w", err)
	}
	users, err := decodeFile(open, info)
	if err != nil {
		return nil, info, fmt.Errorf("users file %s: %w", f, err)
	}
	return users, info, nil
}

func decodeFile(r io.Reader, info fs.FileInfo) (*Users, error) {
	const forbidden = 0o027
	switch {
	case !info.Mode().IsRegular():
		return nil, errors.New("it is no regular file")
	case info.Mode().Perm()&forbidden != 0 && runtime.GOOS != "windows":
		return nil, fmt.Errorf("mode %v: %w: chmod 600 it, and think about changing them", info.Mode().Perm(), ErrExposed)
	}
	document, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, err
	}
	return decodeUsers(document)
}

func decodeUsers(document []byte) (*Users, error) {
	if len(document) > maxFile {
		return nil, fmt.Errorf("it is larger than %d bytes", maxFile)
	}
	users := &Users{}
	if err := yamldoc.Strict(document, users); err != nil {
		return nil, err
	}
	return users, users.validate()
}

// Change changes the file under its lock. A file that is not there yet is one without users; its folder is made, too. If
// change returns an error, the file stays as it was.
//
// Errors: those of Read and of change, ErrLocked, the cause of ctx.
func (f File) Change(ctx context.Context, change func(*Users) error) error {
	if err := os.MkdirAll(filepath.Dir(string(f)), 0o700); err != nil {
		return fmt.Errorf("users file: %w", err)
	}
	return lockedfile.Change(ctx, string(f), func(path string) error {
		users, info, err := File(path).read()
		if errors.Is(err, ErrNoFile) {
			users, err = &Users{}, nil
		}
		if err != nil {
			return err
		}
		if err := change(users); err != nil {
			return err
		}
		if err := users.validate(); err != nil {
			return fmt.Errorf("users file %s: %w", f, err)
		}
		document, err := yaml.Marshal(users)
		if err == nil {
			err = lockedfile.Replace(path, append([]byte(heading), document...), info)
		}
		if err != nil {
			return fmt.Errorf("users file: %w", err)
		}
		return nil
	})
}

// AddFirst adds an admin for everything if the file has no user, and returns his password, which is random. Otherwise it
// changes nothing, and returns "". Of processes that call it together, one adds the user.
//
// Errors: those of Change.
func (f File) AddFirst(ctx context.Context, name string) (password string, err error) {
	password = rand.Text()
	err = f.Change(ctx, func(u *Users) error {
		if len(u.Users) > 0 {
			return ErrExists
		}
		return u.Add(name, password, []Grant{{Role: Admin}})
	})
	if errors.Is(err, ErrExists) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return password, nil
}

const heading = "# Who may use the console. elasticjob console user and token change this file; comments do not survive that.\n"
