package jobtree_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// Members of elastic-job 2.1 have no document, and ElasticJob 3.0 and its pre-releases write ENABLED.
func TestOldMembers(t *testing.T) {
	const id = "192.0.2.2@-@14058"
	for _, tt := range []struct {
		name, instance, server, session string
		isGone                          bool
		want                            string
	}{
		{"2.1", "", "", "", false, "[192.0.2.2@-@14058] [192.0.2.2]"},
		{"2.1 that is to run", "TRIGGER", "", "", false, "[192.0.2.2@-@14058] [192.0.2.2]"},
		{"2.1 on a disabled server", "", "DISABLED", "", false, "[192.0.2.2@-@14058] []"},
		{"2.1 that has ended", "", "", "", true, "[] [192.0.2.2]"},
		{"a pre-release of 3.0", "", "ENABLED", "", false, "[] []"},
		{"3.0", "jobInstanceId: " + id + "\nserverIp: 192.0.2.2\n", "ENABLED", "", false, "[] []"},
		{"a Go member", "", "", "protocol: 1\n", false, "[] [192.0.2.2]"},
	} {
		nodes := coord.NewTree()
		put := func(path, value string, owner coord.SessionID) {
			nodes.Put(coord.Node{Path: path, Value: []byte(value), Created: 1, Owner: owner})
		}
		put("j/config", "", 0)
		put("j/servers/192.0.2.2", tt.server, 0)
		if !tt.isGone {
			put("j/instances/"+id, tt.instance, 7)
		}
		if tt.session != "" {
			put("j/sessions/"+id, tt.session, 7)
		}
		s := jobtree.Read(nodes.Snapshot(), "j")
		if got := fmt.Sprint(s.OldMembers(), s.OldServers()); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// A name is one of ours, one that only a JVM can use, or none.
func TestNames(t *testing.T) {
	for name, want := range map[string]string{
		"settle": "ours", "a.b_c-d:e": "ours", strings.Repeat("x", jobtree.MaxNameLength): "ours",
		"订单任务": "a JVM's", "com.foo.Job$Inner": "a JVM's", "my job": "a JVM's", "a(b)": "a JVM's", "~other": "a JVM's",
		strings.Repeat("x", jobtree.MaxNameLength+1): "a JVM's",
		"": "none", ".": "none", "..": "none", "a/b": "none", "a\x00b": "none", "\xff": "none", "~elasticjob": "none",
	} {
		got := "none"
		switch {
		case jobtree.IsName(name) && jobtree.IsJVMName(name):
			got = "both"
		case jobtree.IsName(name):
			got = "ours"
		case jobtree.IsJVMName(name):
			got = "a JVM's"
		}
		if got != want {
			t.Errorf("%q is %s, want %s", name, got, want)
		}
	}
}
