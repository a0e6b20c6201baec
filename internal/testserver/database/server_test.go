package database_test

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/testserver/database"
)

var kinds = [...]database.Kind{database.MariaDB, database.PostgreSQL}

func onEach(t *testing.T, test func(t *testing.T, kind database.Kind)) {
	for _, kind := range kinds {
		t.Run(kind.String(), func(t *testing.T) {
			database.Require(t, kind)
			t.Parallel()
			test(t, kind)
		})
	}
}

func ask(t *testing.T, d database.Database, statements string) string {
	t.Helper()
	answer, err := d.Server.Exec(t.Context(), d.Name, statements)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func create(t *testing.T, s *database.Server) database.Database {
	t.Helper()
	d, err := s.Create(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestKeepsItsDataOverStopAndKill(t *testing.T) {
	onEach(t, func(t *testing.T, kind database.Kind) {
		s := database.Start(t, database.Config{Kind: kind})
		addr := s.Addr()
		d := create(t, s)
		ask(t, d, "CREATE TABLE numbers (n INT PRIMARY KEY)")
		for i, end := range []func() error{s.Stop, s.Kill, s.Kill} {
			ask(t, d, "INSERT INTO numbers SELECT COUNT(*) FROM numbers")
			if err := end(); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Exec(t.Context(), d.Name, "SELECT 1"); err == nil {
				t.Errorf("end %d: it still answers", i)
			}
			if err := s.Restart(t.Context()); err != nil {
				t.Fatal(err)
			}
			if s.Addr() != addr {
				t.Errorf("end %d: it serves at %s, not at %s", i, s.Addr(), addr)
			}
		}
		if got := ask(t, d, "SELECT COUNT(*) FROM numbers"); got != "3" {
			t.Errorf("%s rows are left of 3", got)
		}
	})
}

func TestDatabasesAreApart(t *testing.T) {
	var shared database.Shared
	t.Cleanup(func() {
		if err := shared.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Run("group", func(t *testing.T) {
		onEach(t, func(t *testing.T, kind database.Kind) {
			a, b := shared.Database(t, kind), shared.Database(t, kind)
			if a.Server != b.Server || a.Name == b.Name || a.DSN() == b.DSN() {
				t.Errorf("%s and %s", a.DSN(), b.DSN())
			}
			ask(t, a, "CREATE TABLE numbers (n INT PRIMARY KEY)")
			ask(t, b, "CREATE TABLE numbers (n INT PRIMARY KEY)")
		})
	})
}

func TestDatabase(t *testing.T) {
	onEach(t, func(t *testing.T, kind database.Kind) {
		s := database.Start(t, database.Config{Kind: kind, Durable: true, Settings: map[string]string{"max_connections": "23"}})
		d := create(t, s)
		want := map[database.Kind]string{
			database.MariaDB:    "tester:of-the-tester@tcp(example:1)/test_1",
			database.PostgreSQL: "postgres://tester:of-the-tester@example:1/test_1?sslmode=disable",
		}[kind]
		if got := d.DSNVia("example:1"); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if !strings.Contains(d.DSN(), s.Addr()) || !strings.Contains(d.AdminDSN(), s.Addr()) {
			t.Errorf("got %s and %s, without %s", d.DSN(), d.AdminDSN(), s.Addr())
		}
		show := map[database.Kind]string{database.MariaDB: "SELECT @@max_connections", database.PostgreSQL: "SHOW max_connections"}[kind]
		if got := ask(t, d, show); got != "23" {
			t.Errorf("a setting of ours is %s", got)
		}
		for _, name := range []string{"", d.Name, "no_such_database"} {
			_, err := s.Exec(t.Context(), name, "SELECT * FROM no_such_table")
			if err == nil || !strings.Contains(err.Error(), kind.String()) || !strings.Contains(err.Error(), s.Addr()) {
				t.Errorf("in %q: %v", name, err)
			}
		}
	})
	if _, err := database.Run(t.Context(), database.Config{}); err == nil || !strings.Contains(err.Error(), "MariaDB and PostgreSQL are allowed") {
		t.Errorf("no kind: %v", err)
	}
}

// smallDisk is 0 where no disk can be mounted.
func smallDisk() int64 {
	if os.Geteuid() != 0 {
		return 0
	}
	return 128 << 20
}

func TestDiskFull(t *testing.T) {
	database.RequireDisk(t)
	onEach(t, func(t *testing.T, kind database.Kind) {
		s := database.Start(t, database.Config{Kind: kind, Disk: smallDisk()})
		d := create(t, s)
		ask(t, d, "CREATE TABLE texts (t VARCHAR(8000))")
		ask(t, d, "INSERT INTO texts SELECT REPEAT('x', 8000)")
		var err error
		for range 20 {
			if _, err = s.Exec(t.Context(), d.Name, "INSERT INTO texts SELECT * FROM texts"); err != nil {
				break
			}
		}
		if err == nil || !strings.Contains(err.Error(), "is full") && !strings.Contains(err.Error(), "free disk space") {
			t.Errorf("got %v", err)
		}
	})
}

func TestCloseRemovesEverything(t *testing.T) {
	onEach(t, func(t *testing.T, kind database.Kind) {
		s, err := database.Run(t.Context(), database.Config{Kind: kind})
		if err != nil {
			t.Fatal(err)
		}
		pid := s.Pid()
		for range 2 {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := os.Stat(s.Folder()); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the folder is left: %v", err)
		}
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("the process is left: %v", err)
		}
		if err := s.Restart(t.Context()); err == nil {
			t.Error("a closed server was started")
		}
	})
}

func TestStartIsBounded(t *testing.T) {
	onEach(t, func(t *testing.T, kind database.Kind) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if s, err := database.Run(ctx, database.Config{Kind: kind}); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, %v", s, err)
		}
	})
}

func TestNothingIsLeftWhenTheProcessIsKilled(t *testing.T) {
	onEach(t, func(t *testing.T, kind database.Kind) {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), victim+"="+kind.String())
		if _, err := cmd.StdinPipe(); err != nil {
			t.Fatal(err)
		}
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(stdout).ReadString('\n')
		pid, folder, ok := strings.Cut(strings.TrimSpace(line), " ")
		if err != nil || !ok || pid == "error:" {
			t.Fatalf("the process says %q, %v", line, err)
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // it was killed

		left := func() bool {
			_, noFolder := os.Stat(folder)
			command, _ := os.ReadFile("/proc/" + pid + "/cmdline") // missing if it has ended
			return noFolder == nil || strings.Contains(string(command), folder)
		}
		again := time.NewTicker(10 * time.Millisecond) // the processes are not ours, so no signal tells us
		defer again.Stop()
		for deadline := time.After(time.Minute); left(); {
			select {
			case <-again.C:
			case <-deadline:
				t.Fatalf("process %s or folder %s is left", pid, folder)
			}
		}
	})
}
