package database

import (
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/elasticjob-go/elasticjob/internal/testserver/child"
)

type postgreSQL struct{ initdb, server, client string }

func findPostgreSQL() (product, error) {
	paths, err := find(debianPostgreSQL(), "initdb", "postgres", "psql")
	if err != nil {
		return nil, err
	}
	return postgreSQL{initdb: paths[0], server: paths[1], client: paths[2]}, nil
}

func (p postgreSQL) settings(s *Server) []string {
	base := map[string]string{
		"listen_addresses":           child.Host,
		"port":                       strconv.Itoa(s.port),
		"unix_socket_directories":    "",
		"dynamic_shared_memory_type": "mmap", // in the data folder, where nothing of it can be left
		"lc_messages":                "C",
		"shared_buffers":             "64MB",
	}
	if !s.cfg.Durable {
		base["fsync"] = "off"
		base["full_page_writes"] = "off"
	}
	return append([]string{"-D", s.data()}, settings("--", base, s.cfg.Settings)...)
}

func (p postgreSQL) prepare(s *Server) ([]*exec.Cmd, error) {
	key := filepath.Join(s.folder, "key")
	if err := os.WriteFile(key, []byte(adminsPassword), 0o644); err != nil { // the folder is closed to others
		return nil, err
	}
	initdb := exec.Command(p.initdb, "-D", s.data(), "--username="+admin, "--pwfile="+key, "--auth=scram-sha-256", "--waldir="+s.journal(), "--encoding=UTF8", "--no-locale", "--no-sync")
	users := exec.Command(p.server, "--single", "-D", s.data(), "postgres")
	users.Stdin = strings.NewReader(fmt.Sprintf("CREATE USER %s PASSWORD '%s'\n", tester, testersPassword))
	return []*exec.Cmd{initdb, users}, nil
}

func (p postgreSQL) serve(s *Server) *exec.Cmd { return exec.Command(p.server, p.settings(s)...) }

func (postgreSQL) ready() string { return "database system is ready to accept connections" }
func (postgreSQL) taken() string { return "Address already in use" }

func (p postgreSQL) query(s *Server, database, statements string) *exec.Cmd {
	if database == "" {
		database = "postgres"
	}
	cmd := exec.Command(p.client, "--no-psqlrc", "--host="+child.Host, "--port="+strconv.Itoa(s.port), "--username="+admin,
		"--no-align", "--tuples-only", "--quiet", "--set=ON_ERROR_STOP=1", "--command="+statements, database)
	cmd.Env = append(cmd.Environ(), "PGPASSWORD="+adminsPassword)
	return cmd
}

func (postgreSQL) create(name string) []string {
	return []string{fmt.Sprintf("CREATE DATABASE %s OWNER %s", name, tester)}
}

func (postgreSQL) dsn(user, password, addr, name string) string {
	dsn := url.URL{Scheme: "postgres", User: url.UserPassword(user, password), Host: addr, Path: name, RawQuery: "sslmode=disable"}
	return dsn.String()
}

// stop: with SIGTERM it would wait for its clients. With SIGQUIT it gives its segment of
// shared memory back, which SIGKILL would leave.
func (postgreSQL) stop() syscall.Signal { return syscall.SIGINT }
func (postgreSQL) quit() string         { return "QUIT" }
