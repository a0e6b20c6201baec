package script

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"runtime"
	"strconv"
)

// identity is a user that a program runs as.
type identity struct {
	Name, Home string
	UID, GID   uint32
	Groups     []uint32
}

// identify looks up a user by name or number, and a group, which may be empty. It returns nil
// if this process runs as that user already.
func identify(name, group string) (*identity, error) {
	if runtime.GOOS == "windows" {
		return nil, errors.New("not possible on Windows")
	}
	u, err := user.Lookup(name)
	if _, notNumber := strconv.Atoi(name); err != nil && notNumber == nil {
		u, err = user.LookupId(name)
	}
	if err != nil {
		return nil, err
	}
	gid := u.Gid
	if group != "" {
		g, err := user.LookupGroup(group)
		if _, notNumber := strconv.Atoi(group); err != nil && notNumber == nil {
			g, err = user.LookupGroupId(group)
		}
		if err != nil {
			return nil, err
		}
		gid = g.Gid
	}
	as := &identity{Name: u.Username, Home: u.HomeDir}
	if as.UID, err = number(u.Uid); err != nil {
		return nil, err
	}
	if as.GID, err = number(gid); err != nil {
		return nil, err
	}
	if int(as.UID) == os.Geteuid() && int(as.GID) == os.Getegid() {
		return nil, nil
	}
	if os.Geteuid() != 0 {
		return nil, errors.New("only root may run programs as another user")
	}
	groups, err := u.GroupIds()
	if err != nil {
		return nil, fmt.Errorf("groups of %s: %w", u.Username, err)
	}
	for _, text := range groups {
		id, err := number(text)
		if err != nil {
			return nil, err
		}
		as.Groups = append(as.Groups, id)
	}
	return as, nil
}

func number(text string) (uint32, error) {
	n, err := strconv.ParseUint(text, 10, 32)
	return uint32(n), err
}
