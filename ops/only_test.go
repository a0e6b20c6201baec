package ops_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/ops"
)

// Who is to see some jobs learns nothing of others: no names, and no counts.
func TestOnly(t *testing.T) {
	virtual(t, func(t *testing.T, d dial) {
		reg := open(t, d)
		for _, name := range []string{"pay", "pay-out", "report", "pay.x"} {
			plant(t, reg, name, map[string]string{
				"": name, "config": strings.Replace(small, "jobName: j", "jobName: "+name, 1) + "props:\n  schedule.calendars: holidays\n", "instances/" + here: "", "servers/192.0.2.2": "ENABLED", "sharding/0/instance": here,
			})
		}
		plant(t, reg, "report", map[string]string{"servers/192.0.2.9": "ENABLED"})
		all := ops.New(reg)
		if _, err := all.PutCalendar(t.Context(), ops.PutCalendarRequest{Name: "holidays", Document: []byte("timeZone: UTC\ndates: [2027-01-01]\n")}); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"pay-out", "report"} {
			if err := all.Job(name).DisableServersAhead(t.Context(), "192.0.2.7"); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range []string{"pay.x", "report"} {
			plant(t, reg, "gone-"+name, map[string]string{"config": small})
			if err := all.Job("gone-"+name).Remove(t.Context(), ops.RemoveRequest{}); err != nil {
				t.Fatal(err)
			}
		}
		some := all.Only(func(name string) bool { return strings.Contains(name, "pay") })

		list, err := some.Jobs(t.Context(), ops.JobsQuery{})
		if err != nil || len(list.Jobs) != 3 || list.Totals.Jobs != 3 || list.Totals.Instances != 3 || list.Jobs[0].Implementation != "pay" {
			t.Errorf("jobs %+v, %v", list, err)
		}
		servers, err := some.Servers(t.Context())
		if want := "[{192.0.2.2 1 3 0 3 0} {192.0.2.7 0 1 1 0 0}]"; fmt.Sprint(servers) != want || err != nil {
			t.Errorf("servers %v, %v; want %s", servers, err, want)
		}
		if on, err := some.JobsOn(t.Context(), "192.0.2.9"); len(on) != 0 || err != nil {
			t.Errorf("jobs on the server of another one: %v, %v", on, err)
		}
		if instances, err := some.Instances(t.Context()); len(instances) != 3 || err != nil {
			t.Errorf("instances %v, %v", instances, err)
		}
		if removed, err := some.Removed(t.Context()); len(removed) != 1 || removed[0].Name != "gone-pay.x" || err != nil {
			t.Errorf("removed %v, %v", removed, err)
		}
		settings := 0
		for s, err := range some.AllSettings(t.Context()) {
			if settings++; err != nil || s.Job == "report" || s.Implementation != s.Job {
				t.Errorf("settings %+v, %v", s, err)
			}
		}
		if settings != 3 {
			t.Errorf("settings of %d jobs", settings)
		}
		changes, err := some.Audit(t.Context(), ops.AuditQuery{})
		for _, c := range changes {
			if !strings.Contains(c.Job, "pay") {
				t.Errorf("the audit has %+v", c)
			}
		}
		if len(changes) != 2 || err != nil {
			t.Errorf("%d changes, %v", len(changes), err)
		}
		if err := some.RemoveCalendar(t.Context(), ops.RemoveCalendarRequest{Name: "holidays"}); !errors.Is(err, ops.ErrCalendarUsed) || !strings.Contains(err.Error(), "report") {
			t.Errorf("a calendar that another job names is removed: %v", err)
		}
		if some.Registry() != coord.Registry(reg) {
			t.Error("another registry")
		}
	})
}

// The audit can be asked for a time.
func TestAuditOfATime(t *testing.T) {
	virtual(t, func(t *testing.T, d dial) {
		reg := open(t, d)
		plant(t, reg, "pay", map[string]string{"config": small})
		begin := time.Now()
		for i := range 3 {
			if err := ops.New(reg).Job("pay").DisableServersAhead(t.Context(), fmt.Sprintf("192.0.2.%d", i)); err != nil {
				t.Fatal(err)
			}
			pass(time.Hour)
		}
		for _, tc := range []struct {
			from, to time.Duration
			want     int
		}{{0, 3 * time.Hour, 3}, {time.Hour, 2 * time.Hour, 1}, {30 * time.Minute, 150 * time.Minute, 2}, {3 * time.Hour, 4 * time.Hour, 0}} {
			list, err := ops.New(reg).Audit(t.Context(), ops.AuditQuery{From: begin.Add(tc.from), To: begin.Add(tc.to)})
			if len(list) != tc.want || err != nil {
				t.Errorf("%v to %v: %d changes, %v; want %d", tc.from, tc.to, len(list), err, tc.want)
			}
		}
	})
}
