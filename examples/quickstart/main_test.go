package main

import (
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// TestMain is also main for the workers that the show starts: it starts the program that it runs in, which is this test.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "-worker" {
		main()
		return
	}
	goleak.VerifyTestMain(m)
}

func TestParse(t *testing.T) {
	s, err := parse([]string{"-dir", "files", "-store", "zookeeper", "-servers", "zk1:2181,zk2:2182", "-job", "j"})
	if want := (settings{dir: "files", store: zookeeper, servers: "zk1:2181,zk2:2182", job: "j"}); err != nil || s != want {
		t.Errorf("%+v, want %+v, error %v", s, want, err)
	}
	if s, err := parse(nil); err != nil || s.dir != "." || s.store != "etcd" || s.job == "" || s.isWorker {
		t.Errorf("without flags: %+v, error %v", s, err)
	}
}

func TestParseSaysWhatIsAllowed(t *testing.T) {
	for args, want := range map[string]string{
		"-store consul":    `-store "consul": etcd or zookeeper is allowed`,
		"-store zookeeper": "-store zookeeper needs -servers host:port",
		"now":              `argument "now": only flags are allowed`,
	} {
		if _, err := parse(strings.Fields(args)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q in it", args, err, want)
		}
	}
}
