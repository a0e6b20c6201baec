package database

import (
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	"github.com/elasticjob-go/elasticjob/internal/testserver/child"
)

type mariaDB struct{ install, server, client string }

func findMariaDB() (product, error) {
	paths, err := find([]string{"/usr/sbin"}, "mariadb-install-db", "mariadbd", "mariadb")
	if err != nil {
		return nil, err
	}
	return mariaDB{install: paths[0], server: paths[1], client: paths[2]}, nil
}

func (m mariaDB) settings(s *Server) []string {
	base := map[string]string{
		"bind-address":            child.Host,
		"port":                    strconv.Itoa(s.port),
		"socket":                  "socket", // in the data folder: a path that is long is refused
		"pid-file":                "pid",
		"tmpdir":                  s.journal(), // at its start it removes what others have in a common one
		"skip-name-resolve":       "1",
		"character-set-server":    "utf8mb4", // as Debian has it
		"innodb-buffer-pool-size": "64M",
		"innodb-log-file-size":    "16M",
	}
	if !s.cfg.Durable {
		base["innodb-flush-log-at-trx-commit"] = "2" // written at each commit, but not to the disk
		base["innodb-flush-method"] = "nosync"
	}
	return append([]string{"--no-defaults", "--datadir=" + s.data()}, settings("--", base, s.cfg.Settings)...)
}

// prepare: root of the database is for root of the machine only, through the socket.
func (m mariaDB) prepare(s *Server) ([]*exec.Cmd, error) {
	install := exec.Command(m.install, append([]string{"--no-defaults", "--datadir=" + s.data(), "--skip-test-db",
		"--auth-root-authentication-method=socket"}, m.settings(s)[2:]...)...)
	users := exec.Command(m.server, append(m.settings(s), "--bootstrap")...)
	users.Stdin = strings.NewReader(fmt.Sprintf(`FLUSH PRIVILEGES;
CREATE USER %[1]s@'%%' IDENTIFIED BY '%[2]s';
GRANT ALL ON *.* TO %[1]s@'%%' WITH GRANT OPTION;
CREATE USER %[3]s@'%%' IDENTIFIED BY '%[4]s';
`, admin, adminsPassword, tester, testersPassword))
	return []*exec.Cmd{install, users}, nil
}

func (m mariaDB) serve(s *Server) *exec.Cmd { return exec.Command(m.server, m.settings(s)...) }

func (mariaDB) ready() string { return "ready for connections" }
func (mariaDB) taken() string { return "Address already in use" }

func (m mariaDB) query(s *Server, database, statements string) *exec.Cmd {
	cmd := exec.Command(m.client, "--no-defaults", "--host="+child.Host, "--port="+strconv.Itoa(s.port),
		"--user="+admin, "--batch", "--skip-column-names", "--execute="+statements, database)
	cmd.Env = append(cmd.Environ(), "MYSQL_PWD="+adminsPassword)
	return cmd
}

func (mariaDB) create(name string) []string {
	return []string{"CREATE DATABASE " + name, fmt.Sprintf("GRANT ALL ON %s.* TO %s@'%%'", strings.ReplaceAll("`"+name+"`", "_", `\_`), tester)}
}

func (mariaDB) dsn(user, password, addr, name string) string {
	return fmt.Sprintf("%s:%s@tcp(%s)/%s", user, password, addr, name)
}

func (mariaDB) stop() syscall.Signal { return syscall.SIGTERM }
func (mariaDB) quit() string         { return "KILL" }
