package rights

import "strings"

// Commands are lines for a shell that make the roles with etcdctl, and the users. etcdctl asks for
// their passwords on its standard input, so a shell has to read the lines from a file, not from a
// pipe. Run again they do no harm, but say what is there already. The environment says where the
// store is, and who may do that (ETCDCTL_ENDPOINTS, ETCDCTL_USER).
//
// Errors: those of Roles.
func (e Etcd) Commands() ([]string, error) {
	roles, err := e.Roles()
	if err != nil {
		return nil, err
	}
	var lines []string
	run := func(words ...string) {
		for i, w := range words {
			words[i] = quote(w)
		}
		lines = append(lines, "etcdctl "+strings.Join(words, " "))
	}
	for _, role := range roles {
		run("role", "add", role.Name)
		for _, g := range role.Grants {
			run("role", "grant-permission", role.Name, g.Access.String(), g.From, g.To)
		}
		for _, user := range role.Users {
			run("user", "add", user)
			run("user", "grant-role", user, role.Name)
		}
	}
	return lines, nil
}

// quote makes one word of a text for a POSIX shell.
func quote(text string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+@", r)
	}
	if text != "" && strings.IndexFunc(text, func(r rune) bool { return !plain(r) }) < 0 {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
