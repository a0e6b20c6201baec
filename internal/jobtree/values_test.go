package jobtree_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

const id = "192.0.2.2@-@14058"

// tree returns a snapshot of nodes with these paths and values.
func tree(nodes map[string]string) coord.Snapshot {
	t := coord.NewTree()
	for path, value := range nodes {
		t.Put(coord.Node{Path: path, Value: []byte(value)})
	}
	return t.Snapshot()
}

func TestInstanceID(t *testing.T) {
	for ip, want := range map[string]string{
		"192.0.2.2":   "192.0.2.2@-@7-c0ffee",
		"2001:db8::1": "2001:db8::1@-@7-c0ffee",
	} {
		got := jobtree.InstanceID(ip, 7, "c0ffee")
		if got != want || jobtree.InstanceIP(got) != ip {
			t.Errorf("%s: id %s, address %s", ip, got, jobtree.InstanceIP(got))
		}
	}
	for id, want := range map[string]string{"": "", "x": "", "@-@": "", "h@-@1@-@2": "h"} {
		if got := jobtree.InstanceIP(id); got != want {
			t.Errorf("address in %q is %q, want %q", id, got, want)
		}
	}
}

// Several versions of ElasticJob write the node of an instance. Whatever its value, the
// instance must not be overlooked.
func TestInstances(t *testing.T) {
	for _, tc := range []struct {
		name, id, document string
		ip                 string
		labels             []string
		bad                bool
	}{
		{"3.0", id, "jobInstanceId: 192.0.2.2@-@14058\nserverIp: 192.0.2.2\n", "192.0.2.2", nil, false},
		{"2.1", id, "", "192.0.2.2", nil, false},
		{"another address than in the id", id, "jobInstanceId: 192.0.2.2@-@14058\nserverIp: 198.51.100.7\n", "198.51.100.7", nil, false},
		{"another id than the node's", id, "jobInstanceId: 203.0.113.1@-@1\n", "192.0.2.2", nil, false},
		{"labels as text", id, "labels: gpu, weight=3\nserverIp: 192.0.2.2\n", "192.0.2.2", []string{"gpu", "weight=3"}, false},
		{"labels as plain text", id, "labels: gpu,weight=3\nserverIp: 192.0.2.2\n", "192.0.2.2", []string{"gpu", "weight=3"}, false},
		{"labels as a list", id, "labels: [gpu, 'weight=3']\nserverIp: 192.0.2.2\n", "192.0.2.2", []string{"gpu", "weight=3"}, false},
		{"labels of the wrong kind", id, "labels: {a: b}\n", "192.0.2.2", nil, false},
		{"null", id, "labels: null\nserverIp: null\n", "192.0.2.2", nil, false},
		{"further keys", id, "serverIp: 192.0.2.3\nsince: [1, 2]\n", "192.0.2.3", nil, false},
		{"IPv6", "::1@-@7-c0ffee", "jobInstanceId: '::1@-@7-c0ffee'\nserverIp: '::1'\n", "::1", nil, false},
		{"2.1's trigger", id, "TRIGGER", "192.0.2.2", nil, true},
		{"no YAML", id, "a: b: c\n\x00", "192.0.2.2", nil, true},
		{"no address at all", "me", "{", "", nil, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			state := jobtree.Read(tree(map[string]string{"settle/instances/" + tc.id: tc.document}), "settle")
			got := state.Instances[tc.id]
			if got.ID != tc.id || got.IP != tc.ip || !cmp.Equal(got.Labels, tc.labels) || (got.Err != nil) != tc.bad {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestInstanceRoundTrip(t *testing.T) {
	label := rapid.StringMatching(`[^,\s\pC]([^,\pC]*[^,\s\pC])?`)
	rapid.Check(t, func(t *rapid.T) {
		ip := rapid.SampledFrom([]string{"192.0.2.2", "::1", "2001:db8::1", "a-host.example", "null", "host 1"}).Draw(t, "ip")
		labels := rapid.SliceOfN(label, 0, 3).Draw(t, "labels")
		id := jobtree.InstanceID(ip, 7, "c0ffee")
		document := jobtree.EncodeInstance(id, ip, labels)
		got := jobtree.Read(tree(map[string]string{"j/instances/" + id: string(document)}), "j").Instances[id]
		if got.Err != nil || got.ID != id || got.IP != ip || !cmp.Equal(got.Labels, labels, cmpopts.EquateEmpty()) {
			t.Fatalf("%s gives %+v", document, got)
		}
	})
}

// A JVM member writes and reads exactly this text.
func TestInstanceDocument(t *testing.T) {
	for _, tc := range []struct {
		labels []string
		want   string
	}{
		{nil, "jobInstanceId: 192.0.2.2@-@14058\nserverIp: 192.0.2.2\n"},
		{[]string{"gpu", jobtree.WeightLabel(3)}, "jobInstanceId: 192.0.2.2@-@14058\nlabels: gpu,weight=3\nserverIp: 192.0.2.2\n"},
	} {
		if got := jobtree.EncodeInstance(id, "192.0.2.2", tc.labels); string(got) != tc.want {
			t.Errorf("got %s", got)
		}
	}
}

func TestWeight(t *testing.T) {
	for _, tc := range []struct {
		labels []string
		want   int
	}{
		{nil, 0},
		{[]string{"gpu"}, 0},
		{[]string{"gpu", jobtree.WeightLabel(7)}, 7},
		{[]string{"weight=much", "weight=2"}, 2},
	} {
		if got := (jobtree.Instance{Labels: tc.labels}).Weight(); got != tc.want {
			t.Errorf("weight of %q is %d, want %d", tc.labels, got, tc.want)
		}
	}
}

// The fast way to read an instance returns what the YAML reader returns, or nothing.
func FuzzInstance(f *testing.F) {
	f.Add("jobInstanceId: 192.0.2.2@-@14058\nserverIp: 192.0.2.2\n")
	f.Add("labels: a,b=1,c\nserverIp: x:y\n")
	f.Add("serverIp: 0x10\nlabels: null")
	f.Add("serverIp: true\nlabels: 2001-01-01\n")
	f.Add("labels: 1_0,\nserverIp: a:\n")
	f.Fuzz(func(t *testing.T, document string) {
		ip, labels, ok := jobtree.PlainInstance([]byte(document))
		if !ok {
			return
		}
		wantIP, wantLabels, err := jobtree.ReadInstance([]byte(document))
		if err == nil && (ip != wantIP || !cmp.Equal(labels, wantLabels)) {
			t.Errorf("got %q %q, want %q %q", ip, labels, wantIP, wantLabels)
		}
	})
}

func TestServers(t *testing.T) {
	state := jobtree.Read(tree(map[string]string{
		"settle/servers/192.0.2.1":  "ENABLED",
		"settle/servers/192.0.2.10": "",
		"settle/servers/192.0.2.2":  "DISABLED",
		"settle/servers/192.0.2.20": "disabled",
		"settle/servers/192.0.2.3":  "DISABLED\n",
		"settle/servers/192.0.2.4":  "whatever",
	}), "settle")
	for ip, want := range map[string]bool{
		"192.0.2.1": true, "192.0.2.10": true, "192.0.2.2": false, "192.0.2.20": false, "192.0.2.3": false, "192.0.2.4": true,
		"192.0.2.99": true, // which has no node
	} {
		if got := state.ServerEnabled(ip); got != want {
			t.Errorf("%s: enabled is %v, want %v", ip, got, want)
		}
	}
}

// A trigger is one whatever its value is: JVM members do not read it either.
func TestTrigger(t *testing.T) {
	for _, value := range []string{"", "items: [0]", "[", "\x00\xff"} {
		s := jobtree.Read(tree(map[string]string{"settle/trigger/" + id: value}), "settle")
		if got := s.Triggers[id]; got.Instance != id || string(got.Value) != value {
			t.Errorf("%q: %+v", value, got)
		}
	}
}

func TestFired(t *testing.T) {
	tick := time.Date(2026, 11, 20, 23, 14, 28, int(5*time.Millisecond), time.UTC)
	for _, tc := range []struct {
		value string
		want  time.Time
		bad   bool
	}{
		{"", time.Time{}, false},
		{"2026-11-20T23:14:28.005Z", tick, false},
		{"2026-11-21T07:14:28.005+08:00", tick, false},
		{"2026-11-20T23:14:28.005000000Z", tick, false},
		{"2026-11-20T23:14:28Z", tick.Truncate(time.Second), false},
		{"yesterday", time.Time{}, true},
		{"2026-13-20T23:14:28Z", time.Time{}, true},
		{"\x00\xff", time.Time{}, true},
	} {
		got := jobtree.Read(tree(map[string]string{"settle/sharding/0/fired": tc.value}), "settle").Item(0).Fired
		if !got.Tick.Equal(tc.want) || got.Tick.Location() != time.UTC || (got.Err != nil) != tc.bad {
			t.Errorf("%q: got %v, %v", tc.value, got.Tick, got.Err)
		}
	}
	if got := jobtree.EncodeFired(tick.In(time.FixedZone("", 3600))); string(got) != "2026-11-20T23:14:28.005Z" {
		t.Errorf("written as %s", got)
	}
	if got := jobtree.EncodeFired(time.Time{}); got != nil {
		t.Errorf("unknown is written as %q", got)
	}
}

// A claim may be for another tick than the last one begun.
func TestClaim(t *testing.T) {
	tick := time.Date(2026, 11, 20, 23, 14, 28, 0, time.UTC)
	for _, run := range []time.Time{tick, tick.Add(-time.Hour), {}} {
		value := jobtree.EncodeClaim(tick, run)
		want := run
		if run.IsZero() {
			want = tick
		}
		got := jobtree.Read(tree(map[string]string{"settle/sharding/0/fired": string(value)}), "settle").Item(0).Fired
		if got.Err != nil || !got.Tick.Equal(tick) || !got.Run.Equal(want) {
			t.Errorf("%s gives %v for %v, %v", value, got.Tick, got.Run, got.Err)
		}
	}
	got := jobtree.Read(tree(map[string]string{"settle/sharding/0/fired": fmt.Sprintf("%s x", jobtree.EncodeFired(tick))}), "settle").Item(0).Fired
	if got.Err == nil || !got.Tick.IsZero() || !got.Run.IsZero() {
		t.Errorf("a claim that cannot be read gives %+v", got)
	}
}

func TestSchedule(t *testing.T) {
	want := jobtree.ScheduleDocument{Cron: "* * * * * ?", TimeZone: "Asia/Shanghai", Misfire: true, Calendars: "a:b=0123456789abcdef,c=0", Since: time.Date(2026, 11, 20, 23, 14, 28, 5e6, time.UTC),
		ExpiresAt: time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC), ExpiryTicks: 5, Counted: time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC), Until: time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)}
	document, err := jobtree.EncodeSchedule(want)
	if err != nil {
		t.Fatal(err)
	}
	got := jobtree.Read(tree(map[string]string{"settle/schedule": string(document)}), "settle").Schedule
	if got.Err != nil || !cmp.Equal(got.ScheduleDocument, want) {
		t.Errorf("%s gives %+v", document, got)
	}
	later := want
	later.Since = want.Since.Add(time.Hour)
	other := want
	other.TimeZone = ""
	changed := want
	changed.Calendars = "c=0"
	if !want.Same(later) || want.Same(other) || want.Same(changed) {
		t.Error("only the time does not matter")
	}
	if bad := jobtree.Read(tree(map[string]string{"settle/schedule": "["}), "settle").Schedule; bad.Err == nil || bad.ScheduleDocument != (jobtree.ScheduleDocument{}) {
		t.Errorf("a schedule that cannot be read gives %+v", bad)
	}
}
