package jobtree_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

func debris(s *jobtree.State) []string {
	var paths []string
	for _, d := range s.Debris {
		paths = append(paths, strings.TrimPrefix(d.Path, "settle/"))
	}
	slices.Sort(paths)
	return paths
}

func TestDebris(t *testing.T) {
	for name, tc := range map[string]struct {
		paths []string
		want  []string
	}{
		"nothing": {},
		"what we write ourselves": {paths: []string{
			"config", "schedule", "servers/192.0.2.1", "instances/" + id, "sessions/" + id, "faults/" + id, "trigger/" + id,
			"sharding/0/instance", "sharding/0/running", "sharding/0/fired", "sharding/0/misfire", "sharding/0/disabled",
			"sharding/0/failover", "sharding/0/failovering", "sharding/0/completed", "leader/election/instance", "leader/election/latch/1",
			"leader/sharding/necessary", "leader/sharding/processing", "leader/failover/items/0", "leader/failover/latch/1",
			"guarantee/2026-01-05T10:00:00.000Z/started/0", "systemTime/current",
		}},
		"below an instance":                       {paths: []string{"instances/" + id + "/x"}, want: []string{"instances/" + id + "/x"}},
		"below a session":                         {paths: []string{"sessions/" + id + "/x"}, want: []string{"sessions/" + id + "/x"}},
		"below faults":                            {paths: []string{"faults/" + id + "/x"}, want: []string{"faults/" + id + "/x"}},
		"below a trigger":                         {paths: []string{"trigger/" + id + "/x"}, want: []string{"trigger/" + id + "/x"}},
		"below a waiting item":                    {paths: []string{"leader/failover/items/3/x"}, want: []string{"leader/failover/items/3/x"}},
		"below the leader":                        {paths: []string{"leader/election/instance/x"}, want: []string{"leader/election/instance/x"}},
		"below the flags":                         {paths: []string{"leader/sharding/necessary/x", "leader/sharding/processing/y"}, want: []string{"leader/sharding/necessary/x", "leader/sharding/processing/y"}},
		"below the record of a run":               {paths: []string{"sharding/3/running/x"}, want: []string{"sharding/3/running/x"}},
		"below a node of an item that is unknown": {paths: []string{"sharding/3/unheard/x"}, want: []string{"sharding/3/unheard/x"}},
		"the topmost only":                        {paths: []string{"instances/" + id + "/x", "instances/" + id + "/x/y", "instances/" + id + "/x/y/z", "instances/" + id + "/xy"}, want: []string{"instances/" + id + "/x", "instances/" + id + "/xy"}},
		"the foreign rooms are let alone":         {paths: []string{"unheard/of/it", "servers/192.0.2.1/x", "sharding/x/y/z"}},
	} {
		nodes := map[string]string{}
		for _, path := range tc.paths {
			nodes["settle/"+path] = ""
		}
		s := jobtree.Read(tree(nodes), "settle")
		if diff := cmp.Diff(tc.want, debris(s), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if s.UnusableNodes != 0 {
			t.Errorf("%s: %d nodes, such as %s, are not usable", name, s.UnusableNodes, s.Unusable)
		}
	}
}

// A state lists a bounded number of nodes, and more when those are removed.
func TestDebrisIsBounded(t *testing.T) {
	const much = 5000
	nodes := map[string]string{}
	for i := range much {
		nodes[fmt.Sprintf("settle/sharding/0/running/x%d", i)] = ""
	}
	for seen := 0; len(nodes) > 0; {
		s := jobtree.Read(tree(nodes), "settle")
		if len(s.Debris) == 0 || len(s.Debris) > 100 {
			t.Fatalf("%d nodes are listed, after %d of %d", len(s.Debris), seen, much)
		}
		for _, d := range s.Debris {
			delete(nodes, d.Path)
		}
		seen += len(s.Debris)
	}
}

// Nodes whose names coord does not allow are counted, and otherwise ignored.
func TestUnusableNodes(t *testing.T) {
	long := strings.Repeat("n", 2000)
	for name, paths := range map[string][]string{
		"control characters":     {"trigger/a\x01b"},
		"dots":                   {"trigger/.."},
		"no text":                {"trigger/a\xff"},
		"a long name":            {"trigger/" + long},
		"in every room":          {"trigger/..", "instances/..", "sessions/..", "servers/..", "faults/.."},
		"below other nodes":      {"instances/" + id + "/..", "sharding/0/running/a\x01b", "leader/election/instance/" + long},
		"two below one of them":  {"trigger/../x", "trigger/../y"},
		"debris below a bad one": {"trigger/..", "trigger/../x"},
	} {
		nodes := map[string]string{}
		for _, path := range paths {
			nodes["settle/"+path] = "serverIp: 192.0.2.1"
		}
		s := jobtree.Read(tree(nodes), "settle")
		if s.UnusableNodes != len(paths) || s.Unusable == "" || len(s.Unusable) > 300 {
			t.Errorf("%s: %d are not usable, such as %.400q", name, s.UnusableNodes, s.Unusable)
		}
		if n := len(s.Triggers) + len(s.Instances) + len(s.Sessions) + len(s.Servers) + len(s.Faults) + len(s.Debris); n > 0 {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

func TestSessions(t *testing.T) {
	long := strings.Repeat("x", 900_000)
	for name, tc := range map[string]struct {
		value string
		want  jobtree.SessionDocument
		bad   bool
	}{
		"nothing to say":    {},
		"refused":           {value: "refused: 17\n", want: jobtree.SessionDocument{Refused: 17}},
		"clock":             {value: "clockOff: true\n", want: jobtree.SessionDocument{ClockOff: true}},
		"both":              {value: "clockOff: true\nrefused: 17\n", want: jobtree.SessionDocument{Refused: 17, ClockOff: true}},
		"of a later time":   {value: "refused: 17\nunheard: x\n", want: jobtree.SessionDocument{Refused: 17}},
		"no number":         {value: "clockOff: true\nrefused: seventeen\n", bad: true},
		"a list":            {value: "[1]", bad: true},
		"not YAML":          {value: "\x00\xff", bad: true},
		"much of it":        {value: "refused: 17 #" + long, bad: true},
		"an error with it":  {value: "refused: " + strings.Repeat("x", 4000), bad: true},
		"an alias of depth": {value: strings.Repeat("[", 4000), bad: true},
		"before protocols":  {value: "# nothing\n"},
		"all": {
			value: "protocol: 1\naccepted: 17\nrevision: 3\nclockFar: true\n",
			want:  jobtree.SessionDocument{Protocol: 1, Accepted: 17, Revision: 3, ClockFar: true},
		},
		"a bound of earlier builds":    {value: "protocol: 2\ncapped: true\nroom: 3\nnode: a\n", want: jobtree.SessionDocument{Protocol: 2, NodeID: "a"}},
		"a long node":                  {value: "node: " + strings.Repeat("x", 400) + "\n", bad: true},
		"a newer protocol":             {value: "protocol: 9\nunheard: [x]\n", want: jobtree.SessionDocument{Protocol: 9}},
		"a newer one, other fields":    {value: "accepted: 5\nprotocol: 9\nrefused: {at: 17}\n", want: jobtree.SessionDocument{Protocol: 9}, bad: true},
		"a protocol that is no number": {value: "protocol: two\nrefused: 17\n", bad: true},
		"a protocol without an end":    {value: "protocol: " + strings.Repeat("9", 3000), bad: true},
	} {
		s := jobtree.Read(tree(map[string]string{"settle/sessions/" + id: tc.value}), "settle").Sessions[id]
		if s.SessionDocument != tc.want || (s.Err != nil) != tc.bad {
			t.Errorf("%s: %+v, %v", name, s.SessionDocument, s.Err)
		}
		if s.Err != nil && len(s.Err.Error()) > 700 {
			t.Errorf("%s: error of %d bytes", name, len(s.Err.Error()))
		}
	}
	for _, want := range []jobtree.SessionDocument{
		{}, {Protocol: -1, Accepted: -1 << 63, Revision: -2, Refused: -3, ClockOff: true, ClockFar: true}, {Refused: 1 << 60}, {ClockOff: true}, {Refused: 3, ClockOff: true}, {Protocol: jobtree.Protocol},
		{Protocol: jobtree.Protocol, Accepted: 1 << 60, Revision: 7, ClockFar: true},
		{NodeID: "192.0.2.1@-@7-c0ffee"}, {NodeID: "a host: \"é\"@-@7-c0ffee"},
	} {
		value := jobtree.EncodeSession(want)
		got := jobtree.Read(tree(map[string]string{"settle/sessions/" + id: string(value)}), "settle").Sessions[id]
		if got.SessionDocument != want || got.Err != nil {
			t.Errorf("%+v is written as %q and read as %+v, %v", want, value, got.SessionDocument, got.Err)
		}
		if want == (jobtree.SessionDocument{}) && value != nil {
			t.Errorf("nothing is written as %q", value)
		}
	}
	if value := jobtree.EncodeSession(jobtree.SessionDocument{Protocol: 1}); string(value) != "protocol: 1\n" {
		t.Errorf("a protocol alone is written as %q", value)
	}
}

// A faults node stays below 4 KiB, whatever the causes are.
func TestFaults(t *testing.T) {
	since := time.Date(2026, time.January, 5, 10, 0, 0, 123456789, time.FixedZone("", 3600))
	for name, tc := range map[string]struct {
		n     int
		cause string
	}{
		"none":                  {},
		"one":                   {1, errors.New("job settle: nobody leads").Error()},
		"a long one":            {1, strings.Repeat("x", 900_000)},
		"many long ones":        {100, strings.Repeat("x", 900_000)},
		"many lines":            {8, strings.Repeat("a: b\n", 1000)},
		"quotes":                {8, strings.Repeat(`'"`, 1000)},
		"letters of four bytes": {8, strings.Repeat("𝕏", 1000)},
		"no text":               {8, strings.Repeat("\xff\x00", 1000)},
		"control characters":    {8, strings.Repeat("\x01", 1000)},
		"backslashes and a tab": {8, strings.Repeat("\\\t", 1000)},
	} {
		var faults []jobtree.FaultRecord
		for range tc.n {
			faults = append(faults, jobtree.FaultRecord{Kind: "configuration", Cause: tc.cause, Since: since})
		}
		value := jobtree.EncodeFaults(faults)
		if len(value) > 4<<10 {
			t.Errorf("%s: %d bytes", name, len(value))
		}
		got, err := jobtree.DecodeFaults(value)
		if err != nil || len(got) != min(tc.n, 8) {
			t.Fatalf("%s: %d faults of %d are read again, %v", name, len(got), tc.n, err)
		}
		for _, f := range got {
			if f.Kind != "configuration" || !f.Since.Equal(since.Truncate(time.Millisecond)) || len(tc.cause) < 100 && f.Cause != tc.cause {
				t.Errorf("%s: got %+v", name, f)
			}
		}
	}
	if _, err := jobtree.DecodeFaults([]byte("faults: " + strings.Repeat("x", 900_000))); err == nil || len(err.Error()) > 700 {
		t.Errorf("got an error of %d bytes", len(fmt.Sprint(err)))
	}
}
