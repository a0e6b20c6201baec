package decide_test

import (
	"slices"
	"testing"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/decide"
)

// founds asks an instance to found a job whose configuration is there.
func founds(p pass) []decide.Change {
	bootstrapper := p.Bootstrapper()
	if bootstrapper == nil {
		return nil
	}
	return must(p.Bootstrap(bootstrapper, pass{World: bootstrapper, fixture: p.fixture}.owners()))
}

func TestBootstrap(t *testing.T) {
	const (
		now      = "2026-01-05T10:00:05.100Z"
		instance = "+ instances/A = jobInstanceId: A\nserverIp: host-A\n (of A)"
		leads    = "+ leader/election/instance = A (of A)"
		server   = "+ servers/host-A = ENABLED"
		session  = "+ sessions/A = protocol: 2\n (of A)"
		in0      = "+ schedule = cron: 0/5 * * * * ?\ntimeZone: UTC\nmisfire: true\nsince: 2026-01-05T10:00:05.1Z\n"
	)
	item := func(i string) []string {
		return []string{"+ sharding/" + i + "/fired = " + now, "+ sharding/" + i + "/instance = A"}
	}
	all := slices.Concat(item("0"), item("1"), item("2"))
	nobody := func(*fixture) {}
	for _, r := range []row{
		{name: "a new job", tree: func(f *fixture) { f.remove("schedule") }, want: slices.Concat([]string{instance, leads, in0, server, session}, all)},
		{name: "its schedule is in force", want: slices.Concat([]string{instance, leads, server, session}, all)},
		{
			name: "the instances before have ended",
			tree: func(f *fixture) { f.deal("X", "Y", "X") },
			want: []string{instance, leads, server, session, "+ sharding/0/instance = A", "+ sharding/1/instance = A", "+ sharding/2/instance = A"},
		},
		{
			name: "and their runs were cut short: those items keep their owners until they are recovered",
			tree: func(f *fixture) { f.deal("X", "A", "A").put("sharding/0/running", "X") },
			want: []string{instance, leads, server, session},
		},
		{
			name: "an instance that has stepped down still runs an item",
			tree: func(f *fixture) { f.deal("A", "A", "B").create("B", "sessions/B", "").claim("B", 2, tick(1)) },
			want: []string{instance, leads, server, session},
		},
		{
			name:  "there are more items than one commit takes",
			rules: func(r *decide.Rules) { r.Total = 1000 },
			want:  []string{instance, leads, server, session},
		},
		{
			name:  "no instance may have items",
			rules: func(r *decide.Rules) { r.Label = "big" },
			want:  []string{instance, leads, server, session},
		},
		{name: "its server is enabled, and servers begin disabled", rules: func(r *decide.Rules) { r.Disabled = true },
			tree: func(f *fixture) { f.deal("A", "A", "A").put("servers/host-A", "ENABLED") }, want: []string{instance, leads, session}},
		// It registers like any other instance:
		{name: "its server is disabled", tree: func(f *fixture) { f.disable("A") }},
		{name: "servers begin disabled", rules: func(r *decide.Rules) { r.Disabled = true }},
		{name: "there is another instance", tree: func(f *fixture) { f.members("B") }},
		{name: "there is a JVM instance", tree: func(f *fixture) { f.create("B", "instances/B", "serverIp: host-B\n") }},
		{name: "a JVM instance leads before it is there", tree: func(f *fixture) { f.leader("B") }},
		{name: "a stranger's leader", tree: func(f *fixture) { f.put("leader/election/instance", "A") }},
		{name: "nodes are in the way", tree: func(f *fixture) { f.put("sharding/0/instance/x", "") }},
		{name: "its clock is far off", tree: func(f *fixture) { f.ahead(60e9) }},
		{name: "it is leaving", tree: func(f *fixture) { f.leaving = true }},
	} {
		r.run(t, nobody, founds)
	}
	for _, c := range []conflict{
		{"another instance leads", func(f *fixture) { f.members("B").leader("B") }},
		{"the configuration is changed", func(f *fixture) { f.reconfigure(hourly) }},
		{"the job is removed", func(f *fixture) { f.remove("config") }},
		{"an item is assigned", func(f *fixture) { f.own(0, "B") }},
		{"it was there, and an operator has removed it", func(f *fixture) { f.members("A").remove("instances/A") }},
		{"its outcome was unknown, and it was fenced", func(f *fixture) { f.changes("A", f.pass("A").FenceRegistration()) }},
		{"the session ends", func(f *fixture) { f.crash("A") }},
	} {
		c.run(t, nobody, founds)
	}
}

// The commit that founds a job may write its configuration, too. Of two instances that try
// one succeeds.
func TestFoundWithTheConfiguration(t *testing.T) {
	f := given(t)
	f.remove("config", "schedule")
	var tries []decide.Change
	for _, id := range []string{"A", "B"} {
		p := f.pass(id)
		bootstrapper := p.Bootstrapper()
		change, err := p.Bootstrap(bootstrapper, pass{World: bootstrapper, fixture: f}.owners(), coord.Create(f.job.Config(), []byte("c")))
		if err != nil {
			t.Fatal(err)
		}
		tries = append(tries, *change)
	}
	f.changes("A", tries[0])
	p := f.pass("A")
	if !p.IsRegistered() || !p.Leads() || !p.IsScheduleEffective() || p.Item(2).Owner == nil {
		t.Errorf("registered %v, leads %v, in force %v, items %+v", p.IsRegistered(), p.Leads(), p.IsScheduleEffective(), p.Items)
	}
	if more := slices.Concat(puts(p), assigns(p)); len(more) > 0 {
		t.Errorf("the leader has to do more: %v", more)
	}
	// It says which configuration it follows by the commit, whose number it could not know.
	p.Accepted = p.Config.Modified
	if more := one(p.Announce()); len(more) > 0 {
		t.Errorf("it announces %v", more)
	}
	if _, err := f.store.Commit(sessionOf("B"), tries[1].Ops...); err == nil {
		t.Error("both have founded the job")
	}
	f.put("config", "another")
	p = f.pass("A")
	p.Accepted = p.Config.Modified
	if more := one(p.Announce()); len(more) != 1 {
		t.Errorf("it does not announce that it follows another one: %v", more)
	}
}
