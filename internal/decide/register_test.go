package decide_test

import (
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/decide"
)

func registers(p pass) []decide.Change { return []decide.Change{*p.Register()} }

func TestRegister(t *testing.T) {
	nobody := func(*fixture) {}
	here := []string{"+ instances/A = jobInstanceId: A\nserverIp: host-A\n (of A)"}
	session := "+ sessions/A = protocol: 2\n (of A)"
	for _, r := range []row{
		{
			name: "a new server",
			want: append(here, "+ servers/host-A = ENABLED", session),
		},
		{
			name:  "a new server of a job whose servers begin disabled",
			rules: func(r *decide.Rules) { r.Disabled = true },
			want:  append(here, "+ servers/host-A = DISABLED", session),
		},
		{
			name: "a server that an operator has disabled stays that",
			tree: func(f *fixture) { f.disable("A") },
			want: append(here, session),
		},
		{
			name:  "a server that an operator has enabled stays that",
			rules: func(r *decide.Rules) { r.Disabled = true },
			tree:  func(f *fixture) { f.put("servers/host-A", "ENABLED") },
			want:  append(here, session),
		},
		{
			name: "another instance of the server",
			tree: func(f *fixture) { f.create("B", "instances/B", "serverIp: host-A\n") },
			want: append(here, "+ servers/host-A = ENABLED", session),
		},
		{
			name: "labels",
			tree: func(f *fixture) { f.labels = []string{"big", "weight=3"} },
			want: []string{"+ instances/A = jobInstanceId: A\nlabels: big,weight=3\nserverIp: host-A\n (of A)", "+ servers/host-A = ENABLED", session},
		},
		{
			name: "it has refused the configuration before",
			tree: func(f *fixture) { f.refused = 17 },
			want: append(here, "+ servers/host-A = ENABLED", "+ sessions/A = protocol: 2\nrefused: 17\n (of A)"),
		},
	} {
		r.run(t, nobody, registers)
	}
	for _, c := range []conflict{
		{"the job is removed", func(f *fixture) { f.remove("config") }},
		{"it is there already", func(f *fixture) { f.members("A") }},
		{"it was there, and an operator has removed it", func(f *fixture) { f.members("A").remove("instances/A") }},
		{"an operator disables the server", func(f *fixture) { f.disable("A") }},
		{"its outcome was unknown, and it was fenced", func(f *fixture) { f.changes("A", f.pass("A").FenceRegistration()) }},
		{"the session ends", func(f *fixture) { f.crash("A") }},
	} {
		c.run(t, nobody, registers)
	}
}

// A session's node alone is no instance: it makes nobody register, lead, or deal to it.
func TestFenceRegistration(t *testing.T) {
	f := given(t)
	got := f.changes("A", f.pass("A").FenceRegistration())
	if len(got) != 1 || got[0] != "+ sessions/A =  (of A)" {
		t.Errorf("changes %q", got)
	}
	if p := f.pass("A"); p.IsRegistered() || len(p.Eligible()) > 0 {
		t.Errorf("registered %v, eligible %v", p.IsRegistered(), p.Eligible())
	}
}

func TestAnnounce(t *testing.T) {
	announces := func(p pass) []decide.Change { return one(p.Announce()) }
	base := func(f *fixture) { f.members("A", "B") }
	refused := func(f *fixture) { f.refused = 17 }
	for _, r := range []row{
		{name: "nothing to say"},
		{name: "it has refused a configuration", tree: refused, want: []string{"+ sessions/A = protocol: 2\nrefused: 17\n (of A)"}},
		{name: "which it has said", tree: func(f *fixture) { refused(f); f.put("sessions/A", "protocol: 2\nrefused: 17") }},
		{name: "it follows again", tree: func(f *fixture) { f.put("sessions/A", "refused: 17") }, want: []string{"+ sessions/A = protocol: 2\n (of A)"}},
		{name: "its clock is ahead", tree: func(f *fixture) { f.ahead(2600 * time.Millisecond) }, want: []string{"+ sessions/A = protocol: 2\nahead: 3\n (of A)"}},
		{name: "and a second more", tree: func(f *fixture) { f.ahead(4*time.Second).put("sessions/A", "protocol: 2\nahead: 3") }},
		{name: "and two", tree: func(f *fixture) { f.ahead(5*time.Second).put("sessions/A", "protocol: 2\nahead: 3") }, want: []string{"+ sessions/A = protocol: 2\nahead: 5\n (of A)"}},
		{name: "it is set", tree: func(f *fixture) { f.put("sessions/A", "protocol: 2\nahead: -3") }, want: []string{"+ sessions/A = protocol: 2\n (of A)"}},
		{name: "its session is somebody else's", tree: func(f *fixture) { refused(f); f.remove("sessions/A").create("B", "sessions/A", "") }},
		{name: "it has none", tree: func(f *fixture) { refused(f); f.remove("sessions/A") }},
	} {
		r.run(t, base, announces)
	}
	for _, c := range []conflict{
		{"the session ends", func(f *fixture) { f.crash("A") }},
		{"its node is another one", func(f *fixture) { f.remove("sessions/A").create("B", "sessions/A", "") }},
		{"its node is rewritten", func(f *fixture) { f.put("sessions/A", "refused: 18") }},
	} {
		c.run(t, func(f *fixture) { base(f); refused(f) }, announces)
	}
}

func removesStaleSelf(p pass) []decide.Change {
	p.NodeID = "process"
	return one(p.RemoveStaleSelf())
}

func TestRemoveStaleSelf(t *testing.T) {
	const of = "protocol: 2\nnode: "
	for _, r := range []row{
		{
			name: "a registration that came late",
			tree: func(f *fixture) {
				f.create("A", "sessions/A-2", of+"process\n").create("A", "instances/A-2", "")
			},
			want: []string{"- instances/A-2", "- sessions/A-2"},
		},
		{
			name: "it leads",
			tree: func(f *fixture) {
				f.remove("leader")
				f.create("A", "sessions/A-2", of+"process\n").create("A", "instances/A-2", "").leader("A-2")
			},
			want: []string{"- instances/A-2", "- leader/election/instance", "- sessions/A-2"},
		},
		{
			name: "what fences a registration",
			tree: func(f *fixture) { f.create("A", "sessions/A-2", "") },
		},
		{
			name: "an instance of another node with the same registry",
			tree: func(f *fixture) {
				f.create("A", "sessions/A-2", of+"other\n").create("A", "instances/A-2", "")
			},
		},
		{
			name: "an instance of another process",
			tree: func(f *fixture) { f.create("C", "sessions/C", of+"process\n").create("C", "instances/C", "") },
		},
	} {
		r.run(t, func(f *fixture) { f.members("A", "B").leader("B") }, removesStaleSelf)
	}
}
