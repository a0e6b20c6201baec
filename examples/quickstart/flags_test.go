package main

import (
	"bytes"
	"errors"
	"flag"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	dir := folder(t, map[string]string{"a": ""})
	s, err := parse([]string{"-dir", dir, "-store", "zookeeper", "-servers", "zk1:2181, zk2:2182", "-items", "3"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if s.dir != dir || s.items != 3 {
		t.Errorf("settings %+v", s)
	}
	if diff := cmp.Diff(store{Kind: zookeeperStore, Servers: []string{"zk1:2181", "zk2:2182"}}, s.store); diff != "" {
		t.Error(diff)
	}
}

func TestParseNothing(t *testing.T) {
	s, err := parse(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !filepath.IsAbs(s.dir) || s.items != 8 || s.store.Kind != etcdStore || len(s.store.Servers) != 0 {
		t.Errorf("settings %+v", s)
	}
}

func TestParseSaysWhatIsAllowed(t *testing.T) {
	empty := t.TempDir()
	for _, test := range []struct{ args, want string }{
		{"-store consul", `-store "consul": etcd or zookeeper is allowed`},
		{"-store zookeeper", "needs -servers host:port"},
		{"-servers host", `-servers "host": host:port is allowed`},
		{"-servers :2379", `-servers ":2379": host:port is allowed`},
		{"-servers a:1,b:70000", `-servers "b:70000": host:port is allowed`},
		{"-items 0", "-items 0: 1 to 32 are allowed"},
		{"-items many", "-h lists what is allowed"},
		{"-colour", "-h lists what is allowed"},
		{"now", `argument "now": flags only are allowed`},
		{"-dir " + empty, "has 0 files, 1 to 20000 are allowed"},
		{"-dir " + filepath.Join(empty, "missing"), "no such file or directory"},
	} {
		if _, err := parse(strings.Fields(test.args), nil); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q in it", test.args, err, test.want)
		}
	}
}

func TestHelp(t *testing.T) {
	var out bytes.Buffer
	if _, err := parse([]string{"-h"}, &out); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("error %v", err)
	}
	for _, want := range []string{"-store etcd or zookeeper", "-servers host:port", "-dir folder", "-items"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("help says nothing about %s:\n%s", want, &out)
		}
	}
}
