package rights

import (
	"fmt"
	"strings"

	"github.com/elasticjob-go/elasticjob/coord/zk"
)

// ZooKeeper says who has which role in a namespace of a ZooKeeper store.
type ZooKeeper struct {
	// Namespace is zk.Config.Namespace.
	Namespace string
	// Users are who has the roles: one identity, or none, for each. See zk.DigestIdentity.
	Users map[Role]zk.Identity
}

// Grants are what a process that logs in as one role has to give to the others: zk.Config.Grants.
// A reader creates nothing, so it gives nothing.
//
// Errors: coord.ErrInvalidPath for a bad namespace; others for a role without a user.
func (z ZooKeeper) Grants(creator Role) (zk.ACL, error) {
	if err := z.check(creator); err != nil {
		return nil, err
	}
	if creator == Reader {
		return nil, nil
	}
	var acl zk.ACL
	for _, role := range Roles() {
		if who, ok := z.Users[role]; ok && who != z.Users[creator] {
			acl = append(acl, zk.Entry{Identity: who, Permissions: permissions(role)})
		}
	}
	return acl, nil
}

// ACL is the list of the nodes of the namespace that are there already.
//
// Errors: those of Grants, for the operator.
func (z ZooKeeper) ACL() (zk.ACL, error) {
	acl, err := z.Grants(Operator)
	if err != nil {
		return nil, err
	}
	return append(acl, zk.Entry{Identity: z.Users[Operator], Permissions: zk.All}), nil
}

func (z ZooKeeper) check(needed Role) error {
	if err := checkNamespace(z.Namespace); err != nil {
		return err
	}
	texts := z.Namespace
	for _, who := range z.Users {
		texts += who.ID
	}
	if strings.Contains(texts, `"`) {
		return fmt.Errorf("rights: the namespace or a user has a double quote, which zkCli cannot be told")
	}
	if _, ok := z.Users[needed]; !ok {
		return fmt.Errorf("rights: there is no user for the role %s", needed)
	}
	return nil
}

// permissions are what a role may do with a node that another one has created. Only operators
// may change lists.
func permissions(role Role) zk.Permissions {
	switch role {
	case Operator:
		return zk.All
	case Worker:
		return zk.All &^ zk.Admin
	}
	return zk.Read
}

// Commands are lines for zkCli that create the namespace if it is not there, and give all of its
// nodes the list. They have hashes of passwords in them, no passwords. Before them whoever may
// change the nodes has to log in, with addauth, as an operator. The namespace's parents are for
// operators alone.
//
// Errors: those of ACL.
func (z ZooKeeper) Commands() ([]string, error) {
	acl, err := z.ACL()
	if err != nil {
		return nil, err
	}
	operators := zk.ACL{{Identity: z.Users[Operator], Permissions: zk.All}}
	var lines []string
	path, names := "", strings.Split(z.Namespace, "/")
	for _, name := range names {
		path += "/" + name
		lines = append(lines, fmt.Sprintf(`create %s "" %s`, word(path), word(operators.String())))
	}
	return append(lines, fmt.Sprintf("setAcl -R %s %s", word(path), word(acl.String()))), nil
}

// word makes one word of a text without double quotes, for zkCli, which knows no escapes.
func word(text string) string {
	if strings.ContainsAny(text, " '") {
		return `"` + text + `"`
	}
	return text
}
