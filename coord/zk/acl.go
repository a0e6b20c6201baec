package zk

import (
	"crypto/sha1"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	zookeeper "github.com/go-zookeeper/zk"

	"github.com/elasticjob-go/elasticjob/coord"
)

// Identity is somebody as ZooKeeper's access lists name him: {"digest", "user:hash"}, or
// {"world", "anyone"}.
type Identity struct{ Scheme, ID string }

// String is the identity as zkCli writes it: "digest:user:hash".
func (i Identity) String() string { return i.Scheme + ":" + i.ID }

// Everybody is everybody, also those who do not log in.
func Everybody() Identity { return Identity{"world", "anyone"} }

// DigestIdentity is the identity of who logs in with a digest, "user:password". It has a hash
// of both, which is no secret of the same rank as the password, but may be guessed from: SHA-1
// without a salt.
//
// Errors: [coord.ErrInvalidConfig].
func DigestIdentity(digest string) (Identity, error) {
	user, _, ok := strings.Cut(digest, ":")
	if !ok || user == "" {
		return Identity{}, fmt.Errorf(`%w: a digest has to be "user:password"`, coord.ErrInvalidConfig)
	}
	hash := sha1.Sum([]byte(digest))
	return Identity{"digest", user + ":" + base64.StdEncoding.EncodeToString(hash[:])}, nil
}

// Permissions are what somebody may do with a node.
type Permissions uint8

// ZooKeeper's permissions. To remove a node takes Delete on its parent, to create one takes
// Create there. Admin changes the list itself.
const (
	Read   Permissions = zookeeper.PermRead
	Write  Permissions = zookeeper.PermWrite
	Create Permissions = zookeeper.PermCreate
	Delete Permissions = zookeeper.PermDelete
	Admin  Permissions = zookeeper.PermAdmin
	All                = Read | Write | Create | Delete | Admin
)

// letters are those of zkCli, in its order.
const letters = "cdrwa"

func permissionOf(letter byte) Permissions {
	switch letter {
	case 'c':
		return Create
	case 'd':
		return Delete
	case 'r':
		return Read
	case 'w':
		return Write
	case 'a':
		return Admin
	}
	return 0
}

// String is the permissions as zkCli writes them, such as "cdrwa".
func (p Permissions) String() string {
	var b strings.Builder
	for i := range len(letters) {
		if p&permissionOf(letters[i]) != 0 {
			b.WriteByte(letters[i])
		}
	}
	return b.String()
}

// Entry says what somebody may do.
type Entry struct {
	Identity
	Permissions Permissions
}

// String is the entry as zkCli writes it: "digest:user:hash:cdrwa".
func (e Entry) String() string { return e.Identity.String() + ":" + e.Permissions.String() }

// ACL is the access list of a node. It holds for that node only, not for what is below it.
type ACL []Entry

// String is the list as zkCli's setAcl takes it: entries with commas between them.
func (a ACL) String() string {
	texts := make([]string, len(a))
	for i, e := range a {
		texts[i] = e.String()
	}
	return strings.Join(texts, ",")
}

// Of returns what the list allows to an identity by name.
func (a ACL) Of(i Identity) Permissions {
	var all Permissions
	for _, e := range a {
		if e.Identity == i {
			all |= e.Permissions
		}
	}
	return all
}

// ParseACL reads what String writes.
//
// Errors: [coord.ErrInvalidConfig].
func ParseACL(list string) (ACL, error) {
	var acl ACL
	for text := range strings.SplitSeq(list, ",") {
		e, err := parseEntry(strings.TrimSpace(text))
		if err != nil {
			return nil, fmt.Errorf("%w: access list: %w", coord.ErrInvalidConfig, err)
		}
		acl = append(acl, e)
	}
	return acl, nil
}

func parseEntry(text string) (Entry, error) {
	first, last := strings.IndexByte(text, ':'), strings.LastIndexByte(text, ':')
	if first < 0 || first == last {
		return Entry{}, errors.New(`an entry has to be "scheme:id:permissions", such as "digest:user:hash:r"`)
	}
	e := Entry{Identity: Identity{text[:first], text[first+1 : last]}}
	for _, letter := range []byte(text[last+1:]) {
		p := permissionOf(letter)
		if p == 0 {
			return e, fmt.Errorf("the permissions of %s are no letters of %q", e.user(), letters)
		}
		e.Permissions |= p
	}
	return e, e.check()
}

// user is the identity without its hash, for texts of errors.
func (i Identity) user() string {
	user, _, _ := strings.Cut(i.ID, ":")
	return fmt.Sprintf("%.40q", i.Scheme+":"+user)
}

// check says what is wrong with an entry; a server tells only that something is.
func (e Entry) check() error {
	user, hash, isPair := strings.Cut(e.ID, ":")
	raw, err := base64.StdEncoding.DecodeString(hash)
	switch {
	case e.Permissions == 0 || e.Permissions&^All != 0:
		return fmt.Errorf("the permissions of %s are none of %q", e.user(), letters)
	case e.Scheme == "" || e.ID == "" || strings.ContainsAny(e.ID, ", \t\r\n"):
		return fmt.Errorf("%s is no identity", e.user())
	case e.Scheme == "auth":
		return errors.New("auth is who creates the node, and has everything anyway")
	case e.Scheme == "world" && e.Identity != Everybody():
		return errors.New("of the scheme world there is anyone only")
	case e.Scheme == "digest" && (!isPair || user == "" || err != nil || len(raw) != sha1.Size):
		return fmt.Errorf(`the id of %s has to be "user:hash"; DigestIdentity makes it`, e.user())
	}
	return nil
}

// check says what is wrong with the first bad entry of a list.
func (a ACL) check() error {
	for _, e := range a {
		if err := e.check(); err != nil {
			return err
		}
	}
	return nil
}

// native is the list for the client library.
func (a ACL) native() []zookeeper.ACL {
	list := make([]zookeeper.ACL, len(a))
	for i, e := range a {
		list[i] = zookeeper.ACL{Perms: int32(e.Permissions), Scheme: e.Scheme, ID: e.ID}
	}
	return list
}

func newACL(list []zookeeper.ACL) ACL {
	acl := make(ACL, len(list))
	for i, e := range list {
		acl[i] = Entry{Identity{e.Scheme, e.ID}, Permissions(e.Perms)}
	}
	return acl
}
