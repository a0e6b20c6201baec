package ops_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/crowd"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
)

// plant writes nodes below a job. Those of instances, sessions and the leader are ephemeral.
func plant(t *testing.T, reg coord.Registry, name string, nodes map[string]string) {
	t.Helper()
	for path, value := range nodes {
		op := coord.Put(name+"/"+path, []byte(value))
		if path == "" {
			op = coord.Put(name, []byte(value))
		}
		for _, room := range []string{"instances/", "sessions/", "leader/election/"} {
			if strings.HasPrefix(path, room) {
				op = coord.CreateEphemeral(name+"/"+path, []byte(value))
			}
		}
		if _, err := reg.Commit(t.Context(), op); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
}

const (
	small = "cron: 0 0 3 * * ?\njobName: j\nshardingTotalCount: 2\n"
	here  = "192.0.2.2@-@14058"
	gone  = "192.0.2.2@-@13981"
)

// Of a configuration that no process takes, only the items are listed that are there.
func TestItemsOfAConfigurationThatIsRefused(t *testing.T) {
	s := memory.NewStore(memory.Options{})
	t.Cleanup(s.Close)
	reg := open(t, func() (coord.Registry, error) { return s.Dial(t.Context(), memory.Config{Namespace: "ops"}) })
	plant(t, reg, "j", map[string]string{"config": "cron: 0 0 3 * * ?\njobName: j\nshardingTotalCount: 2147483647\n", "sharding/7/instance": here})
	d, err := ops.New(reg).Job("j").Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Items) != 1 || d.Items[0].Item != 7 || d.Info.ConfigError == "" || d.Info.ShardingTotalCount != 2147483647 {
		t.Errorf("%d items, %q", len(d.Items), d.Info.ConfigError)
	}
}

// The statuses of a job are those of ElasticJob's console, and missing nodes hide nothing.
func TestStatusOfAJob(t *testing.T) {
	for name, tc := range map[string]struct {
		nodes map[string]string
		want  ops.JobStatus
	}{
		"nothing but a configuration":        {nil, ops.JobNeverStarted},
		"disabled servers, and no instance":  {map[string]string{"servers/192.0.2.2": "DISABLED"}, ops.JobStopped},
		"items, and no instance":             {map[string]string{"sharding/0/instance": gone, "sharding/0/completed": "out: OK"}, ops.JobStopped},
		"an execution of who is gone":        {map[string]string{"sharding/0/instance": gone, "sharding/1/running": gone}, ops.JobCrashed},
		"an execution of who leaves":         {map[string]string{"sharding/0/running": gone, "sessions/" + gone: ""}, ops.JobStopped},
		"an instance, and no server":         {map[string]string{"instances/" + here: ""}, ops.JobDisabled},
		"all servers are disabled":           {map[string]string{"instances/" + here: "", "servers/192.0.2.2": "DISABLED", "servers/192.0.2.3": "disabled", "sharding/0/instance": here}, ops.JobDisabled},
		"some servers are disabled":          {map[string]string{"instances/" + here: "", "servers/192.0.2.2": "ENABLED", "servers/192.0.2.3": "DISABLED", "sharding/0/instance": here}, ops.JobOK},
		"an enabled server of 2.1":           {map[string]string{"instances/" + here: "", "servers/192.0.2.2": "", "sharding/0/instance": here}, ops.JobOK},
		"nothing is assigned":                {map[string]string{"instances/" + here: "", "servers/192.0.2.2": "ENABLED"}, ops.JobShardingFlag},
		"items without owners":               {map[string]string{"instances/" + here: "", "servers/192.0.2.2": "ENABLED", "sharding/0": "", "sharding/1/instance": " "}, ops.JobShardingFlag},
		"an owner is gone":                   {map[string]string{"instances/" + here: "", "servers/192.0.2.2": "ENABLED", "sharding/0/instance": here, "sharding/1/instance": gone}, ops.JobShardingFlag},
		"one item has no owner":              {map[string]string{"instances/" + here: "", "servers/192.0.2.2": "ENABLED", "sharding/0/instance": here, "sharding/1": ""}, ops.JobOK},
		"an owner whose document is strange": {map[string]string{"instances/" + here: "[x", "servers/192.0.2.2": "ENABLED", "sharding/0/instance": here}, ops.JobOK},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T, d dial) {
				reg := open(t, d)
				plant(t, reg, "j", map[string]string{"": "x", "config": small})
				plant(t, reg, "j", tc.nodes)
				info, err := ops.New(reg).Job("j").Info(t.Context())
				if err != nil || info.Status != tc.want {
					t.Errorf("got %+v, %v; want %s", info, err, tc.want)
				}
				list, err := ops.New(reg).Jobs(t.Context(), ops.JobsQuery{})
				if err != nil || len(list.Jobs) != 1 || list.Jobs[0] != info {
					t.Errorf("the list has %+v, %v; want %+v", list, err, info)
				}
			})
		})
	}
}

// So are those of an item.
func TestStatusOfAnItem(t *testing.T) {
	virtual(t, func(t *testing.T, d dial) {
		reg := open(t, d)
		plant(t, reg, "j", map[string]string{
			"": "x", "config": strings.Replace(small, "2", "9", 1), "instances/" + here: "serverIp: 192.0.2.7\n", "servers/192.0.2.2": "ENABLED",
			"sharding/0/instance": here,
			"sharding/1/instance": here, "sharding/1/running": here,
			"sharding/2/instance": gone, "sharding/2/running": gone,
			"sharding/3/instance": here, "sharding/3/running": here, "sharding/3/disabled": "",
			"sharding/4/instance": gone,
			"sharding/5/misfire":  "",
			"sharding/6/instance": gone, "sharding/6/disabled": "",
			"sharding/7/instance": here, "sharding/7/running": "", // before 3.0.2
			"sharding/20/instance": here, // not resharded since there are fewer
			"sharding/x/instance":  here,
		})
		items, err := ops.New(reg).Job("j").Items(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		want := []string{
			"0 PENDING 192.0.2.7", "1 RUNNING 192.0.2.7", "2 RUNNING 192.0.2.2", "3 DISABLED 192.0.2.7", "4 SHARDING_FLAG 192.0.2.2",
			"5 SHARDING_FLAG ", "6 DISABLED 192.0.2.2", "7 RUNNING 192.0.2.7", "8 SHARDING_FLAG ", "20 PENDING 192.0.2.7",
		}
		var got []string
		for _, i := range items {
			got = append(got, fmt.Sprint(i.Item, " ", i.Status, " ", i.Server))
		}
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		if items[2].Run == nil || !items[2].Run.Lost || items[1].Run.Lost || items[7].Run.Lost {
			t.Errorf("runs of instances that are gone: %+v", items)
		}
	})
}

// The trees of a real ElasticJob 3.0, as one instance of two is killed in the middle of a run.
func TestTreesOfElasticJob(t *testing.T) {
	const config = "cron: 28 14/1 * * * ?\ndescription: ''\ndisabled: false\nfailover: true\njobName: demo\njobParameter: ''\nmaxTimeDiffSeconds: -1\nmisfire: true\n" +
		"monitorExecution: true\noverwrite: true\nreconcileIntervalMinutes: 10\nshardingItemParameters: 0=Beijing,1=Shanghai,2=Guangzhou\nshardingTotalCount: 3\nstaticSharding: false\n"
	instance := func(id string) string { return "jobInstanceId: " + id + "\nserverIp: 192.0.2.2\n" }
	both := map[string]string{"instances/" + here: instance(here), "instances/" + gone: instance(gone), "leader/election/instance": gone}
	one := map[string]string{"instances/" + here: instance(here), "leader/election/instance": here, "leader/sharding/necessary": ""}
	dealt := map[string]string{"sharding/0/instance": here, "sharding/1/instance": gone, "sharding/2/instance": here}
	for name, tc := range map[string]struct {
		nodes []map[string]string
		job   string // status, instances, JVM members, running, waiting, leader
		items string // the statuses
	}{
		"before the first run":     {[]map[string]string{{"instances/" + gone: instance(gone), "leader/election/instance": gone, "leader/sharding/necessary": ""}}, "SHARDING_FLAG 1 1 0 0 " + gone, "[SHARDING_FLAG SHARDING_FLAG SHARDING_FLAG]"},
		"two instances run":        {[]map[string]string{both, dealt, {"sharding/0/running": here, "sharding/1/running": gone, "sharding/2/running": here}}, "OK 2 2 3 0 " + gone, "[RUNNING RUNNING RUNNING]"},
		"the run is over":          {[]map[string]string{both, dealt}, "OK 2 2 0 0 " + gone, "[PENDING PENDING PENDING]"},
		"one was killed":           {[]map[string]string{one, dealt, {"sharding/0/running": here, "sharding/2/running": here, "leader/failover/items/1": ""}}, "SHARDING_FLAG 1 1 2 1 " + here, "[RUNNING SHARDING_FLAG RUNNING]"},
		"the other has taken over": {[]map[string]string{one, dealt, {"sharding/1/running": here, "sharding/1/failover": here, "sharding/1/failovering": here}}, "SHARDING_FLAG 1 1 1 0 " + here, "[PENDING RUNNING PENDING]"},
		"all have left":            {[]map[string]string{dealt}, "STOPPED 0 0 0 0 ", "[SHARDING_FLAG SHARDING_FLAG SHARDING_FLAG]"},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T, d dial) {
				reg := open(t, d)
				plant(t, reg, "demo", map[string]string{"": "Drv$J", "config": config, "servers/192.0.2.2": "ENABLED"})
				for _, nodes := range tc.nodes {
					plant(t, reg, "demo", nodes)
				}
				detail, err := ops.New(reg).Job("demo").Describe(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				i := detail.Info
				if got := fmt.Sprint(i.Status, " ", i.Instances, " ", i.JVM, " ", i.Running, " ", i.Waiting, " ", i.Leader); got != tc.job {
					t.Errorf("the job: got %s, want %s", got, tc.job)
				}
				var statuses []ops.ItemStatus
				for _, item := range detail.Items {
					statuses = append(statuses, item.Status)
					if item.Status == ops.ItemRunning && (item.Run.Instance == "" || item.Run.TaskID != "") {
						t.Errorf("what runs: %+v", item.Run)
					}
				}
				if got := fmt.Sprint(statuses); got != tc.items {
					t.Errorf("the items: got %s, want %s", got, tc.items)
				}
				if detail.Items[1].Parameter != "Shanghai" || i.Implementation != "Drv$J" || i.Next.Second() != 28 || i.Faults != 0 {
					t.Errorf("got %+v", detail)
				}
				for _, in := range detail.Instances {
					if !in.JVM || in.Server != "192.0.2.2" || !in.Enabled || in.Error != "" {
						t.Errorf("an instance: %+v", in)
					}
				}
			})
		})
	}
}

// A node of the namespace that is no job is none, and a job that cannot be read hides nothing, not
// even itself.
func TestWhatCannotBeRead(t *testing.T) {
	virtual(t, func(t *testing.T, d dial) {
		reg := open(t, d)
		long := strings.Repeat("長い", 5000)
		for name, nodes := range map[string]map[string]string{
			"a":           {"": "x", "config": small},
			"a-b":         {"config": "cron: nonsense\ndescription: " + long + "\njobName: a-b\nlabel: " + long + "\nshardingTotalCount: -1\n"},
			"a.b":         {"config": "[", "instances/" + here: ":", "sessions/" + here: "protocol: x", "faults/" + here: "[x", "schedule": "[x", "sharding/0/fired": "yesterday", "sharding/0/completed": "[", "pins/0": "[", "sharding/0/running": here},
			"a0":          {"": "no configuration", "instances/" + here: ""},
			"b":           {"config": strings.Replace(small, "\n", "\nprops:\n  schedule.calendars: holidays\n", 1)},
			"empty":       {"config": ""},
			"systemTime":  {"current": ""},
			"~elasticjob": {"junk": "", "nodes/10.0.0.1@-@7-ff": "items: 3\nmaxItems: 9\noffers:\n- SCRIPT\n", "nodes/10.0.0.2@-@7-ff": "["},
			"日本":          {"a": "", "config": small, "x": ""},
			"rest":        {"": "x", "config-not": "", "cursor/0": "", "instances/" + here: "", "sharding/0/instance": here}, // of a job that was removed
			"early":       {"": "y", "a": "", "b/c": "", "config": small, "config/below": ""},
		} {
			plant(t, reg, name, nodes)
		}
		all := ops.New(reg)
		list, err := all.Jobs(t.Context(), ops.JobsQuery{})
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, i := range list.Jobs {
			names = append(names, i.Name)
			if bad := i.Name != "a" && i.Name != "b" && i.Name != "early" && i.Name != "日本"; (i.ConfigError != "") != bad {
				t.Errorf("%s: its configuration: %s", i.Name, i.ConfigError)
			}
			if (i.Name == "b") != strings.Contains(i.NextError, "no such calendar") {
				t.Errorf("%s: its next tick: %s", i.Name, i.NextError)
			}
		}
		if want := []string{"a", "a-b", "a.b", "b", "early", "empty", "日本"}; !slices.Equal(names, want) {
			t.Errorf("jobs %q, want %q", names, want)
		}
		if list.Jobs[0].Implementation != "x" || list.Jobs[4].Implementation != "y" {
			t.Errorf("got %+v", list.Jobs[0]) // other jobs come between its node and its configuration
		}
		if list.Totals.Faulty != 4 || list.Totals.Jobs != 7 {
			t.Errorf("totals %+v", list.Totals)
		}
		document, err := json.Marshal(list)
		if err != nil || len(document) > 10_000 {
			t.Errorf("the list has %d bytes, %v", len(document), err)
		}
		detail, err := all.Job("a.b").Describe(t.Context())
		if err != nil || len(detail.Faults) != 1 || detail.Instances[0].Error == "" || detail.Items[0].Error == "" || detail.Items[0].Pin.Error == "" {
			t.Errorf("got %+v, %v", detail, err)
		}
		processes, err := all.Processes(t.Context())
		if err != nil || len(processes) != 2 || processes[0].Items != 3 || processes[0].Server != "10.0.0.1" || !slices.Equal(processes[0].Offers, []string{"SCRIPT"}) || processes[1].Error == "" {
			t.Errorf("processes %+v, %v", processes, err)
		}
		for _, err := range []error{
			failure(all.Job("a0").Info(t.Context())), failure(all.Job("x/y").Describe(t.Context())), failure(all.Job("").Items(t.Context())),
			failure(all.Job("no").Instances(t.Context())), failure(all.Job("no").Servers(t.Context())),
		} {
			if !errors.Is(err, ops.ErrNoJob) {
				t.Errorf("got %v", err)
			}
		}
	})
}

func failure[T any](_ T, err error) error { return err }

// known are jobs that somebody has.
func known(jobs []ops.JobInfo) iter.Seq[*ops.JobInfo] {
	return func(yield func(*ops.JobInfo) bool) {
		for i := range jobs {
			if !yield(&jobs[i]) {
				return
			}
		}
	}
}

// A job counts as OK only if there is nothing else to say of it.
func TestHealthy(t *testing.T) {
	at := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	begun := func(source string, late time.Duration) map[string]string {
		return map[string]string{"sharding/0/completed": string(jobtree.EncodeCompletion(jobtree.CompletionDocument{
			Tick: at, Outcome: jobtree.OutcomeOK, Source: source, Begun: at.Add(late), Ended: at.Add(late),
		}))}
	}
	for name, tc := range map[string]struct {
		more map[string]string
		want ops.Totals
	}{
		"nothing":                    {nil, ops.Totals{OK: 1}},
		"begins in time":             {begun("NORMAL_TRIGGER", time.Minute), ops.Totals{OK: 1}},
		"begins late":                {begun("MISFIRE", time.Minute+1e6), ops.Totals{BegunLate: 1}},
		"repeats what is long ago":   {begun("RETRY", time.Hour), ops.Totals{OK: 1}},
		"runs":                       {map[string]string{"sharding/0/running": here}, ops.Totals{OK: 1, Running: 1}},
		"an item is disabled":        {map[string]string{"sharding/0/disabled": ""}, ops.Totals{OK: 1}},
		"fails":                      {map[string]string{"sharding/0/completed": "out: FAILED\n"}, ops.Totals{Failing: 1}},
		"paused":                     {map[string]string{"schedule": "paused: 2026-11-22T12:00:00Z\npausedBy: anna\n"}, ops.Totals{Paused: 1}},
		"faulty":                     {map[string]string{"faults/" + here: "faults:\n- kind: clock\n  since: 2026-11-22T12:00:00Z\n"}, ops.Totals{Faulty: 1}},
		"disabled":                   {map[string]string{"servers/192.0.2.2": "DISABLED"}, ops.Totals{Disabled: 1}},
		"disabled, paused and fails": {map[string]string{"servers/192.0.2.2": "DISABLED", "sharding/0/completed": "out: CUT\n", "schedule": "paused: 2026-11-22T12:00:00Z\n"}, ops.Totals{Disabled: 1, Paused: 1, Failing: 1}},
		"expired":                    {map[string]string{"config": small + "props:\n  expiry.at: \"1999-12-01T00:00:00Z\"\n"}, ops.Totals{}},
	} {
		virtual(t, func(t *testing.T, d dial) {
			reg := open(t, d)
			plant(t, reg, "settle", map[string]string{"config": small, "instances/" + here: "", "servers/192.0.2.2": "ENABLED", "sharding/0/instance": here})
			plant(t, reg, "settle", tc.more)
			list, err := ops.New(reg).Jobs(t.Context(), ops.JobsQuery{})
			if err != nil {
				t.Fatal(err)
			}
			tc.want.Jobs, tc.want.Instances, tc.want.Items = 1, 1, list.Totals.Items
			if i := list.Jobs[0]; list.Totals != tc.want || i.Healthy != (tc.want.OK == 1) || i.BegunLate != (tc.want.BegunLate == 1) {
				t.Errorf("%s: %+v, want %+v: %+v", name, list.Totals, tc.want, i)
			}
		})
	}
}

// A list can be searched, and has pages.
func TestJobsQuery(t *testing.T) {
	virtual(t, func(t *testing.T, d dial) {
		reg := open(t, d)
		live := map[string]string{"instances/" + here: "", "servers/192.0.2.2": "ENABLED", "sharding/0/instance": here}
		for name, more := range map[string]map[string]string{
			"pay":         {"": "com.shop.Pay"},
			"pay-refunds": {"sharding/0/running": here, "sharding/0/completed": "out: FAILED\n"},
			"pay.late":    {"faults/" + here: "faults:\n- kind: starvation\n  cause: no thread\n  since: 2026-11-22T12:00:00Z\n- kind: clock\n  cause: off\n  since: 2026-11-22T11:00:00Z\n"},
			"report":      {"schedule": "cron: 0 0 3 * * ?\npaused: 2026-11-22T12:00:00Z\npausedBy: anna\n", "servers/192.0.2.9": "DISABLED"},
		} {
			plant(t, reg, name, map[string]string{"config": strings.Replace(small, "jobName", "description: about "+name+"\njobName", 1)})
			plant(t, reg, name, live)
			plant(t, reg, name, more)
		}
		plant(t, reg, "down", map[string]string{"config": small})
		all, err := ops.New(reg).Jobs(t.Context(), ops.JobsQuery{})
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range []ops.JobsQuery{{Limit: -1}, {Sort: "fate"}} {
			if _, err := q.List(known(all.Jobs)); err == nil {
				t.Errorf("a list of %+v", q)
			}
		}
		for name, tc := range map[string]struct {
			query ops.JobsQuery
			want  string
			next  string
			total int // 0 is as many as are wanted
		}{
			"all":             {want: "down pay pay-refunds pay.late report"},
			"text":            {query: ops.JobsQuery{Search: "ABOUT PAY"}, want: "pay pay-refunds pay.late"},
			"implementation":  {query: ops.JobsQuery{Search: "shop"}, want: "pay"},
			"exactly that":    {query: ops.JobsQuery{Implementation: "com.shop.Pay"}, want: "pay"},
			"not a part":      {query: ops.JobsQuery{Implementation: "com.shop"}},
			"another label":   {query: ops.JobsQuery{Label: "gpu"}},
			"server":          {query: ops.JobsQuery{Server: "192.0.2.9"}, want: "report"},
			"status":          {query: ops.JobsQuery{Statuses: []ops.JobStatus{ops.JobNeverStarted, ops.JobDisabled}}, want: "down"},
			"paused":          {query: ops.JobsQuery{Paused: true}, want: "report"},
			"faulty":          {query: ops.JobsQuery{Faulty: true}, want: "pay.late"},
			"failing":         {query: ops.JobsQuery{Failing: true}, want: "pay-refunds"},
			"the first page":  {query: ops.JobsQuery{Search: "a", Limit: 2}, want: "pay pay-refunds", next: "pay-refunds", total: 4},
			"the second page": {query: ops.JobsQuery{Search: "a", Limit: 2, After: "pay-refunds"}, want: "pay.late report", total: 4},
			"a third page":    {query: ops.JobsQuery{Search: "a", Limit: 2, After: "report"}, total: 4},
			"nothing":         {query: ops.JobsQuery{Search: "nothing"}},
			"by status":       {query: ops.JobsQuery{Sort: ops.SortByStatus}, want: "down pay pay-refunds pay.late report"},
		} {
			list, err := ops.New(reg).Jobs(t.Context(), tc.query)
			if err != nil {
				t.Fatal(err)
			}
			if same, err := tc.query.List(known(all.Jobs)); tc.query.Server == "" && (err != nil || !reflect.DeepEqual(same, list)) {
				t.Errorf("%s: of jobs that are known: %+v, %v; want %+v", name, same, err, list)
			}
			var names []string
			for _, i := range list.Jobs {
				names = append(names, i.Name)
			}
			if got := strings.Join(names, " "); got != tc.want || list.Next != tc.next || list.Totals.Jobs != cmp.Or(tc.total, len(names)) {
				t.Errorf("%s: got %s, then %q, of %d; want %+v", name, got, list.Next, list.Totals.Jobs, tc)
			}
		}
		list, err := ops.New(reg).Jobs(t.Context(), ops.JobsQuery{})
		if err != nil {
			t.Fatal(err)
		}
		if want := (ops.Totals{Jobs: 5, OK: 1, NeverStarted: 1, Paused: 1, Faulty: 1, Failing: 1, Instances: 4, Items: 10, Running: 1}); list.Totals != want {
			t.Errorf("totals %+v, want %+v", list.Totals, want)
		}
		if i := list.Jobs[3]; i.Faults != 2 || i.Fault != "clock: off" {
			t.Errorf("faults %+v", i)
		}
		if i := list.Jobs[4]; i.Paused.By != "anna" || !i.Next.IsZero() || i.Servers != 2 || i.DisabledServers != 1 {
			t.Errorf("a paused job: %+v", i)
		}
		servers, err := ops.New(reg).Servers(t.Context())
		if want := []ops.ServerInfo{{Server: "192.0.2.2", Instances: 1, Jobs: 4, Items: 4, Running: 1}, {Server: "192.0.2.9", Jobs: 1, DisabledJobs: 1}}; err != nil || !slices.Equal(servers, want) {
			t.Errorf("servers %+v, %v; want %+v", servers, err, want)
		}
		on, err := ops.New(reg).JobsOn(t.Context(), "192.0.2.9")
		if err != nil || len(on) != 1 || on[0].Job != "report" || on[0].Enabled || on[0].Unrecorded || len(on[0].Instances) != 0 {
			t.Errorf("jobs on a server: %+v, %v", on, err)
		}
		plant(t, reg, "report", map[string]string{"config": small + "monitorExecution: false\n"})
		if on, err := ops.New(reg).JobsOn(t.Context(), "192.0.2.9"); err != nil || len(on) != 1 || !on[0].Unrecorded {
			t.Errorf("a job without records: %+v, %v", on, err)
		}
		every, err := ops.New(reg).JobServers(t.Context())
		if err != nil || len(every) != 5 || every[0].Job != "pay" || every[4].Server != "192.0.2.9" || every[4].Enabled {
			t.Errorf("servers of jobs: %+v, %v", every, err)
		}
		instances, err := ops.New(reg).Instances(t.Context())
		if err != nil || len(instances) != 4 || instances[0].Job != "pay" || instances[3].Job != "report" || !instances[0].JVM {
			t.Errorf("instances %+v, %v", instances, err)
		}
		if _, err := ops.New(reg).Jobs(t.Context(), ops.JobsQuery{Limit: -1}); err == nil {
			t.Error("a negative limit is allowed")
		}
	})
}

// What a live cluster shows.
func TestStatistics(t *testing.T) {
	onEveryStore(t, func(t *testing.T, d dial) {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		hang, begun := make(chan struct{}), make(chan job.ShardingContext, 10)
		s, err := job.Schedule(ctx, open(t, d), settle(), job.HandlerFunc(func(ctx context.Context, sc job.ShardingContext) error {
			begun <- sc
			if sc.JobParameter == "fail" {
				return errors.New("no disk")
			}
			select {
			case <-hang:
			case <-ctx.Done():
			}
			return nil
		}), job.WithIP("10.0.0.1"), job.WithLabels("gpu"), job.WithWeight(3))
		if err != nil {
			t.Fatal(err)
		}
		owns(t, s, 3)
		all := ops.New(open(t, d)).By("anna")
		steer := all.Job("settle")
		failed, err := steer.Trigger(ctx, job.TriggerRequest{Items: []int{0}, Parameter: "fail"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := failed.Wait(ctx); err != nil {
			t.Fatal(err)
		}
		<-begun
		hanging, err := steer.Trigger(ctx, job.TriggerRequest{Items: []int{1}})
		if err != nil {
			t.Fatal(err)
		}
		sc := <-begun
		if err := steer.Pin(ctx, 2, ops.PinRequest{Label: "gpu"}); err != nil {
			t.Fatal(err)
		}

		list, err := all.Jobs(ctx, ops.JobsQuery{})
		if err != nil || len(list.Jobs) != 1 {
			t.Fatalf("got %+v, %v", list, err)
		}
		i := list.Jobs[0]
		if i.Status != ops.JobOK || i.Instances != 1 || i.JVM != 0 || i.Running != 1 || i.Failing != 1 || i.Requests != 1 || i.Pins != 1 || i.Leader != s.Status().InstanceID ||
			i.Last.Outcome != "FAILED" || i.Last.Error != "no disk" || i.Last.Item != 0 || i.Last.Source != "MANUAL" || i.Last.Begun.Before(i.Last.Tick) || i.Last.Ended.Before(i.Last.Begun) ||
			!i.Next.Equal(s.Status().NextTick) || i.Implementation != "settle" || i.ShardingTotalCount != 3 {
			t.Errorf("the job: %+v", i)
		}
		detail, err := steer.Describe(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if detail.Info != i || len(detail.Ticks) != 5 || detail.Config.Cron != rarely || detail.Since.IsZero() || len(detail.Requests) != 2 || len(detail.Servers) != 1 {
			t.Errorf("the job: %+v", detail)
		}
		items := detail.Items
		if items[0].Status != ops.ItemPending || items[0].Last.Outcome != "FAILED" || items[1].Status != ops.ItemRunning || items[2].Pin == nil || !items[2].Pin.Holds || items[2].Pin.By != "anna" {
			t.Errorf("items %+v", items)
		}
		if r := items[1].Run; r == nil || r.Instance != sc.InstanceID || r.Token != sc.Token || r.TaskID != sc.TaskID || r.Request != hanging.ID || !r.Tick.Equal(sc.ScheduledTime.Truncate(time.Millisecond)) {
			t.Errorf("what runs: %+v, want %+v", r, sc)
		}
		in := detail.Instances[0]
		if len(detail.Instances) != 1 || in.ID != sc.InstanceID || in.Server != "10.0.0.1" || !in.Enabled || !in.Leader || in.Leaving || in.JVM || in.Old || in.Protocol == 0 || in.Session == "" || in.ClockAhead != 0 || in.Weight != 3 || in.Behind || in.Refuses ||
			!slices.Contains(in.Labels, "gpu") || !slices.Equal(in.Items, []int{0, 1, 2}) || !slices.Equal(in.Running, []int{1}) {
			t.Errorf("the instance: %+v", in)
		}
		if servers, err := all.Servers(ctx); err != nil || len(servers) != 1 || servers[0] != (ops.ServerInfo{Server: "10.0.0.1", Instances: 1, Jobs: 1, Items: 3, Running: 1}) {
			t.Errorf("servers %+v, %v", servers, err)
		}
		if _, err := steer.Shutdown(ctx, ops.ShutdownRequest{All: true}); err != nil {
			t.Fatal(err)
		}
		if servers, err := all.Servers(ctx); err != nil || len(servers) != 1 || servers[0] != (ops.ServerInfo{Server: "10.0.0.1", Jobs: 1, Running: 1}) {
			t.Errorf("servers, while what runs comes to its end: %+v, %v", servers, err)
		}
		close(hang)
		if results, err := hanging.Wait(ctx); err != nil || results[0].Outcome != job.OutcomeOK {
			t.Errorf("got %+v, %v", results, err)
		}
		ended(t, s, job.ErrInstanceRemoved)
	})
}

// Instances show whether they work by the configuration that the job has.
func TestInstancesAndTheirConfiguration(t *testing.T) {
	virtual(t, func(t *testing.T, d dial) {
		s := runs(t, d, settle(), "10.0.0.1", func(context.Context, job.ShardingContext) error { return nil })
		owns(t, s, 3)
		j := ops.New(open(t, d)).Job("settle")
		update := func(change func(*job.Config)) ops.InstanceInfo {
			t.Helper()
			now, err := j.Settings(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			change(&now.Config)
			if err := j.Update(t.Context(), ops.UpdateRequest{Config: now.Config, Version: now.Version}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Second)
			list, err := j.Instances(t.Context())
			if err != nil || len(list) != 1 {
				t.Fatalf("got %+v, %v", list, err)
			}
			return list[0]
		}
		if in := update(func(*job.Config) {}); in.Behind || in.Refuses {
			t.Errorf("got %+v", in)
		}
		if in := update(func(c *job.Config) { c.Description = "other" }); in.Behind || in.Refuses || len(in.Faults) > 0 {
			t.Errorf("after a change: %+v", in)
		}
		if in := update(func(c *job.Config) { c.Strategy = "NOWHERE" }); in.Behind || !in.Refuses || len(in.Faults) != 1 || in.Faults[0].Kind != "configuration" || in.Faults[0].Since.IsZero() {
			t.Errorf("after a change that it refuses: %+v", in)
		}
		info, err := j.Info(t.Context())
		if err != nil || info.Faults != 1 || !strings.Contains(info.Fault, "NOWHERE") || info.ConfigError != "" {
			t.Errorf("got %+v, %v", info, err)
		}
		if in := update(func(c *job.Config) { c.Strategy = "" }); in.Behind || in.Refuses || len(in.Faults) > 0 {
			t.Errorf("after a change back: %+v", in)
		}
	})
}

// Broadcast jobs, one-off jobs, jobs that pause and jobs that end.
func TestNextTicks(t *testing.T) {
	virtual(t, func(t *testing.T, d dial) {
		reg := open(t, d)
		all := ops.New(reg)
		now := time.Now()
		create := func(c job.Config) {
			t.Helper()
			c.ShardingTotalCount, c.TimeZone = 1, "GMT+00:00"
			if err := all.Create(t.Context(), ops.CreateRequest{Config: c}); err != nil {
				t.Fatal(err)
			}
		}
		create(job.Config{Name: "daily", Cron: "0 0 3 * * ?"})
		create(job.Config{Name: "once"})
		create(job.Config{Name: "once-until", Expiry: job.Expiry{At: now.Add(time.Hour)}})
		create(job.Config{Name: "until", Cron: "0 0 3 * * ?", Expiry: job.Expiry{At: now.Add(36 * time.Hour)}})
		create(job.Config{Name: "spread", Cron: "0 0 3 * * ?", Broadcast: true})
		create(job.Config{Name: "paused", Cron: "0 0 3 * * ?"})
		if _, err := all.Job("paused").Pause(t.Context(), ops.PauseRequest{Why: "move", MakeUp: true}); err != nil {
			t.Fatal(err)
		}
		three := func(days int) time.Time {
			return now.UTC().Truncate(24*time.Hour).Add(27*time.Hour).AddDate(0, 0, days)
		}
		wants := func(name string, next time.Time, ticks int, expired bool) {
			t.Helper()
			d, err := all.Job(name).Describe(t.Context())
			if err != nil || !d.Info.Next.Equal(next) || len(d.Ticks) != ticks || d.Info.Expired != expired || d.Info.NextError != "" {
				t.Errorf("%s: got %+v, %v", name, d, err)
			}
		}
		time.Sleep(4 * time.Hour) // from midnight
		wants("daily", three(0), 5, false)
		wants("once", time.Time{}, 0, false)
		wants("once-until", time.Time{}, 0, true)
		wants("until", three(0), 1, false)
		wants("spread", three(0), 5, false)
		wants("paused", time.Time{}, 5, false)
		time.Sleep(36 * time.Hour)
		wants("until", time.Time{}, 0, true)
		wants("daily", three(1), 5, false)
		if items, err := all.Job("spread").Items(t.Context()); err != nil || len(items) != 0 {
			t.Errorf("items of a broadcast job without instances: %+v, %v", items, err)
		}
		if info, err := all.Job("paused").Info(t.Context()); err != nil || info.Paused.Why != "move" || !info.Paused.MakeUp || info.Paused.Since.IsZero() {
			t.Errorf("got %+v, %v", info, err)
		}
	})
}

// The console and the command print these as they are.
func TestJSON(t *testing.T) {
	at := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	for want, v := range map[string]any{
		`{"name":"a","shardingTotalCount":3,"version":7,"status":"CRASHED","instances":0,"servers":0,"running":0}`: ops.JobInfo{Name: "a", ShardingTotalCount: 3, Version: 7, Status: ops.JobCrashed},
		`{"name":"a","cron":"0 0 3 * * ?","shardingTotalCount":3,"version":7,"status":"OK","instances":1,"leader":"x","servers":1,"running":1,"faults":1,"fault":"clock: off","paused":{"since":"2026-11-22T12:00:00Z","by":"anna"},` +
			`"last":{"item":2,"tick":"2026-11-22T12:00:00Z","begun":"2026-11-22T12:00:00.25Z","ended":"2026-11-22T12:00:00Z","outcome":"OK"},"next":"2026-11-22T12:00:00Z"}`: ops.JobInfo{
			Name: "a", Cron: "0 0 3 * * ?", ShardingTotalCount: 3, Version: 7, Status: ops.JobOK, Instances: 1, Leader: "x", Servers: 1, Running: 1, Faults: 1, Fault: "clock: off", Next: at,
			Paused: ops.PauseInfo{Since: at, By: "anna"}, Last: ops.LastRun{Item: 2, Tick: at, Begun: at.Add(time.Second / 4), Ended: at, Outcome: "OK"},
		},
		`{"item":0,"status":"SHARDING_FLAG"}`: ops.ItemInfo{Status: ops.ItemShardingFlag},
		`{"item":1,"status":"RUNNING","instance":"x","server":"y","run":{"instance":"x","tick":"2026-11-22T12:00:00Z","token":9}}`: ops.ItemInfo{
			Item: 1, Status: ops.ItemRunning, Instance: "x", Server: "y", Run: &ops.RunInfo{Instance: "x", Tick: at, Token: 9},
		},
		`{"id":"x","job":"a","server":"y","enabled":true,"faults":[{"instance":"x","kind":"clock","cause":"off"}]}`: ops.InstanceInfo{
			ID: "x", Job: "a", Server: "y", Enabled: true, Faults: []ops.FaultInfo{{Instance: "x", Kind: "clock", Cause: "off"}},
		},
		`{"id":"1","source":"MANUAL","at":"2026-11-22T12:00:00Z","items":[0]}`: ops.RequestState{ID: "1", Source: "MANUAL", At: at, Items: []int{0}},
		`{"removed":["a"]}`: ops.Update{Removed: []string{"a"}},
	} {
		if got, err := json.Marshal(v); err != nil || string(got) != want {
			t.Errorf("got %s, %v; want %s", got, err, want)
		}
	}
}

// A read that fails halfway returns no half of a list.
func TestAReadThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory.NewStore(memory.Options{})
		t.Cleanup(s.Close)
		reg := open(t, func() (coord.Registry, error) { return s.Dial(t.Context(), memory.Config{Namespace: "ops"}) })
		plantCrowd(t, reg, 100)
		all := ops.New(reg)
		reads := map[string]func(context.Context) (any, error){
			"jobs":      func(ctx context.Context) (any, error) { return all.Jobs(ctx, ops.JobsQuery{}) },
			"instances": func(ctx context.Context) (any, error) { return all.Instances(ctx) },
			"servers":   func(ctx context.Context) (any, error) { return all.Servers(ctx) },
			"jobs on":   func(ctx context.Context) (any, error) { return all.JobsOn(ctx, "10.0.0.1") },
			"all":       func(ctx context.Context) (any, error) { return all.JobServers(ctx) },
			"info":      func(ctx context.Context) (any, error) { return all.Job(string(crowd.Name(9))).Info(ctx) },
		}
		for name, read := range reads {
			if _, err := read(t.Context()); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			enough := errors.New("enough")
			cancel(enough)
			if _, err := read(ctx); !errors.Is(err, enough) {
				t.Errorf("%s: with a context that has ended: %v", name, err)
			}
		}
		delete(reads, "info") // which is one page
		for name, read := range reads {
			fault := s.Inject(memory.Fault{Method: memory.Walk, Skip: 1, Before: coord.ErrUnavailable}) // the second page
			if got, err := read(t.Context()); !errors.Is(err, coord.ErrUnavailable) || !reflect.ValueOf(got).IsNil() {
				t.Errorf("%s: %v, %v", name, got, err)
			}
			fault.Remove()
		}
	})
}
