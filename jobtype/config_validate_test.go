package jobtype_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/job/cronexpr"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

func TestValidConfigs(t *testing.T) {
	for name, change := range map[string]func(*jobtype.Config){
		"the least":        func(*jobtype.Config) {},
		"cron":             func(c *jobtype.Config) { c.Cron = "0/5 * * * * ?" },
		"cron with a year": func(c *jobtype.Config) { c.Cron = "0 0 12 ? * MON-FRI 2026-2099" },
		"IANA zone":        func(c *jobtype.Config) { c.TimeZone = "Asia/Shanghai" },
		"Java's zone":      func(c *jobtype.Config) { c.TimeZone = "GMT+08:00" },
		"one item":         func(c *jobtype.Config) { c.ShardingTotalCount = 1 },
		"most items":       func(c *jobtype.Config) { c.ShardingTotalCount = jobtype.MaxShardingTotalCount },
		"parameters":       func(c *jobtype.Config) { c.ShardingItemParameters = "0=a,2=b" },
		"all characters":   func(c *jobtype.Config) { c.Name = "az-AZ_09.:" },
		"long name":        func(c *jobtype.Config) { c.Name = strings.Repeat("x", 200) },
		"three dots":       func(c *jobtype.Config) { c.Name = "..." },
		"failover":         func(c *jobtype.Config) { c.Failover = true },
		"no monitoring":    func(c *jobtype.Config) { c.MonitorExecution = jobtype.Off },
		"all off": func(c *jobtype.Config) {
			c.MaxTimeDiff, c.ReconcileInterval, c.Retry.InitialBackoff = -1, -1, -1
		},
		"retry at once":          func(c *jobtype.Config) { c.Retry = jobtype.Retry{Attempts: 3, InitialBackoff: -1} },
		"one backoff":            func(c *jobtype.Config) { c.Retry = jobtype.Retry{InitialBackoff: time.Hour, MaxBackoff: time.Hour} },
		"label":                  func(c *jobtype.Config) { c.Label = "gpu" },
		"props":                  func(c *jobtype.Config) { c.Props = map[string]string{"http.uri": "http://h/"} },
		"several error handlers": func(c *jobtype.Config) { c.ErrorHandler = "LOG, WEBHOOK,MAIL" },
		"strategy of one's own":  func(c *jobtype.Config) { c.Strategy = "com.example.Mine" },
	} {
		if err := with(change).Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFaults(t *testing.T) {
	for _, tc := range []struct {
		field  string
		says   []string // parts of the error: the value, and what is allowed
		change func(*jobtype.Config)
	}{
		{"jobName", []string{`""`, "1 to 200"}, func(c *jobtype.Config) { c.Name = "" }},
		{"jobName", []string{`"."`}, func(c *jobtype.Config) { c.Name = "." }},
		{"jobName", []string{`".."`}, func(c *jobtype.Config) { c.Name = ".." }},
		{"jobName", []string{`"a/b"`, "'.', '_', '-' and ':'"}, func(c *jobtype.Config) { c.Name = "a/b" }},
		{"jobName", []string{`"a b"`}, func(c *jobtype.Config) { c.Name = "a b" }},
		{"jobName", []string{`"é"`}, func(c *jobtype.Config) { c.Name = "é" }},
		{"jobName", []string{"1 to 200"}, func(c *jobtype.Config) { c.Name = strings.Repeat("x", 201) }},
		{"cron", []string{"every second"}, func(c *jobtype.Config) { c.Cron = "every second" }},
		{"cron", []string{"30"}, func(c *jobtype.Config) { c.Cron = "0 0 0 30 2 ?" }},
		{"props: cron.more", []string{"every second"}, func(c *jobtype.Config) { c.Cron, c.MoreCrons = "0 0 * * * ?", []string{"0 0 * * * ?", "every second"} }},
		{"props: cron.more", []string{"needs cron"}, func(c *jobtype.Config) { c.Cron, c.MoreCrons = "", []string{"0 0 * * * ?"} }},
		{"props: cron.more", []string{"one line"}, func(c *jobtype.Config) { c.Cron, c.MoreCrons = "0 0 * * * ?", []string{"0 0 *\n* * ?"} }},
		{"props: cron.more", []string{"101 lines", "at most 100"}, func(c *jobtype.Config) {
			c.Cron, c.MoreCrons = "0 0 * * * ?", slices.Repeat([]string{"0 0 * * * ?"}, 101)
		}},
		{"props: expiry.at", []string{"09:30:00.5", "whole second"}, func(c *jobtype.Config) { c.Expiry.At = time.Date(2027, 1, 31, 9, 30, 0, 5e8, time.UTC) }},
		{"props: expiry.at", []string{"1969", "1970 to 9999"}, func(c *jobtype.Config) { c.Expiry.At = time.Date(1969, 1, 31, 9, 30, 0, 0, time.UTC) }},
		{"props: expiry.ticks", []string{"-1", "10000"}, func(c *jobtype.Config) { c.Expiry.Ticks = -1 }},
		{"props: expiry.ticks", []string{"10001", "10000"}, func(c *jobtype.Config) { c.Expiry.Ticks = 10_001 }},
		{"props: expiry.ticks", []string{"5", "cron"}, func(c *jobtype.Config) { c.Cron, c.Expiry.Ticks = "", 5 }},
		{"props: expiry.remove", []string{"expiry.at"}, func(c *jobtype.Config) { c.Cron, c.Expiry.Remove = "", true }},
		{"props: expiry.remove", []string{"monitorExecution"}, func(c *jobtype.Config) { c.MonitorExecution, c.Expiry.Remove = jobtype.Off, true }},
		{"props: schedule.jitter.milliseconds", []string{"1µs"}, func(c *jobtype.Config) { c.Jitter = time.Microsecond }},
		{"props: schedule.jitter.milliseconds", []string{"24h0m1s", "at most 24h0m0s"}, func(c *jobtype.Config) { c.Jitter = jobtype.MaxJitter + time.Second }},
		{"props: schedule.jitter.milliseconds", []string{"1s", "monitorExecution"}, func(c *jobtype.Config) { c.Jitter, c.MonitorExecution = time.Second, jobtype.Off }},
		{"props: schedule.calendars", []string{`"a/b"`, "as in jobName"}, func(c *jobtype.Config) { c.Cron, c.Calendars = "@hourly", []string{"holidays", "a/b"} }},
		{"props: schedule.calendars", []string{`"a"`, "twice"}, func(c *jobtype.Config) { c.Cron, c.Calendars = "@hourly", []string{"a", "a"} }},
		{"props: schedule.calendars", []string{"21 names", "at most 20"}, func(c *jobtype.Config) { c.Cron, c.Calendars = "@hourly", slices.Repeat([]string{"a"}, 21) }},
		{"props: schedule.calendars", []string{"needs cron"}, func(c *jobtype.Config) { c.Cron, c.Calendars = "", []string{"a"} }},
		{"props: overlap", []string{`"RUN"`, "WAIT and SKIP"}, func(c *jobtype.Config) { c.Overlap = "RUN" }},
		{"timeZone", []string{`"Mars/Olympus"`, "IANA"}, func(c *jobtype.Config) { c.TimeZone = "Mars/Olympus" }},
		{"shardingTotalCount", []string{"0", "1 to 100000"}, func(c *jobtype.Config) { c.ShardingTotalCount = 0 }},
		{"shardingTotalCount", []string{"-1"}, func(c *jobtype.Config) { c.ShardingTotalCount = -1 }},
		{"shardingTotalCount", []string{"100001"}, func(c *jobtype.Config) { c.ShardingTotalCount = 100_001 }},
		{"shardingItemParameters", []string{`"0:a"`, "item=parameter"}, func(c *jobtype.Config) { c.ShardingItemParameters = "0:a" }},
		{"shardingItemParameters", []string{"item 3", "0 to 2", "shardingTotalCount is 3"}, func(c *jobtype.Config) { c.ShardingItemParameters = "0=a,3=b" }},
		{"shardingItemParameters", []string{"item 1 has two"}, func(c *jobtype.Config) { c.ShardingItemParameters = "1=a,1=b" }},
		{"shardingItemParameters", []string{"UTF-8"}, func(c *jobtype.Config) { c.ShardingItemParameters = "1=\xff" }},
		{"jobParameter", []string{`"\xff"`, "UTF-8"}, func(c *jobtype.Config) { c.JobParameter = "\xff" }},
		{"description", []string{"UTF-8"}, func(c *jobtype.Config) { c.Description = "\xff" }},
		{"jobShardingStrategyType", []string{"UTF-8"}, func(c *jobtype.Config) { c.Strategy = "\xff" }},
		{"jobErrorHandlerType", []string{"UTF-8"}, func(c *jobtype.Config) { c.ErrorHandler = "\xff" }},
		{"jobErrorHandlerType", []string{`"LOG,"`, "a name is empty"}, func(c *jobtype.Config) { c.ErrorHandler = "LOG," }},
		{"jobErrorHandlerType", []string{`"A, B,A"`, `"A" is there twice`}, func(c *jobtype.Config) { c.ErrorHandler = "A, B,A" }},
		{"jobErrorHandlerType", []string{"LOG and IGNORE contradict"}, func(c *jobtype.Config) { c.ErrorHandler = "IGNORE,A,LOG" }},
		{"monitorExecution", []string{"7", "On, Off"}, func(c *jobtype.Config) { c.MonitorExecution = 7 }},
		{"misfire", []string{"-1"}, func(c *jobtype.Config) { c.Misfire = -1 }},
		{"failover", []string{"needs monitorExecution"}, func(c *jobtype.Config) { c.Failover, c.MonitorExecution = true, jobtype.Off }},
		{"props: misfire.tolerance.milliseconds", []string{"-1s", "1ms"}, func(c *jobtype.Config) { c.MisfireTolerance = -time.Second }},
		{"props: misfire.tolerance.milliseconds", []string{"1µs"}, func(c *jobtype.Config) { c.MisfireTolerance = time.Microsecond }},
		{"props: misfire.window.seconds", []string{"1.5s", "whole"}, func(c *jobtype.Config) { c.MisfireWindow = 1500 * time.Millisecond }},
		{"props: misfire.window.seconds", []string{"-1s", "0, for none"}, func(c *jobtype.Config) { c.MisfireWindow = -time.Second }},
		{"props: execution.timeout.seconds", []string{"-1ns", "0, for none"}, func(c *jobtype.Config) { c.Timeout = -1 }},
		{"props: schedule.jitter.milliseconds", []string{"-1s", "0, for none"}, func(c *jobtype.Config) { c.Jitter = -time.Second }},
		{"maxTimeDiffSeconds", []string{"1ms", "1s"}, func(c *jobtype.Config) { c.MaxTimeDiff = time.Millisecond }},
		{"reconcileIntervalMinutes", []string{"1s", "1m0s"}, func(c *jobtype.Config) { c.ReconcileInterval = time.Second }},
		{"props: execution.timeout.seconds", []string{"2147483647"}, func(c *jobtype.Config) { c.Timeout = (1 << 31) * time.Second }},
		{"props: retry.attempts", []string{"-1", "0 to 1000"}, func(c *jobtype.Config) { c.Retry.Attempts = -1 }},
		{"props: retry.attempts", []string{"1001"}, func(c *jobtype.Config) { c.Retry.Attempts = 1001 }},
		{"props: retry.backoff.initial.milliseconds", []string{"1ns"}, func(c *jobtype.Config) { c.Retry.InitialBackoff = 1 }},
		{"props: retry.backoff.max.milliseconds", []string{"-1ns"}, func(c *jobtype.Config) { c.Retry.MaxBackoff = -1 }},
		{"props: retry.backoff.max.milliseconds", []string{"1s", "2s"}, func(c *jobtype.Config) {
			c.Retry = jobtype.Retry{InitialBackoff: 2 * time.Second, MaxBackoff: time.Second}
		}},
		{"props: sharding.items.max", []string{"-1", "0 to 100000"}, func(c *jobtype.Config) { c.MaxItems = -1 }},
		{"failover", []string{"true", "broadcast"}, func(c *jobtype.Config) { c.Broadcast, c.Failover = true, true }},
		{"staticSharding", []string{"true", "broadcast"}, func(c *jobtype.Config) { c.Broadcast, c.StaticSharding = true, true }},
		{"props: sharding.items.max", []string{"5", "broadcast"}, func(c *jobtype.Config) { c.Broadcast, c.MaxItems = true, 5 }},
		{"props: executor.threads", []string{"-1", "0 to 10000"}, func(c *jobtype.Config) { c.Threads = -1 }},
		{"props: executor.threads", []string{"10001"}, func(c *jobtype.Config) { c.Threads = 10_001 }},
		{"props: revision", []string{"-1", "0 to 2147483647"}, func(c *jobtype.Config) { c.Revision = -1 }},
		{"jobListenerTypes", []string{`""`}, func(c *jobtype.Config) { c.Listeners = []string{"a", ""} }},
		{"jobListenerTypes", []string{`"a"`, "twice"}, func(c *jobtype.Config) { c.Listeners = []string{"a", "b", "a"} }},
		{`props: ""`, []string{"needs a name"}, func(c *jobtype.Config) { c.Props = map[string]string{"": "x"} }},
		{"props: retry.attempts", []string{"belongs to a field"}, func(c *jobtype.Config) { c.Props = map[string]string{"retry.attempts": "3"} }},
		{`props: "\xff"`, []string{"UTF-8"}, func(c *jobtype.Config) { c.Props = map[string]string{"\xff": "x"} }},
		{`props: "k"`, []string{"UTF-8"}, func(c *jobtype.Config) { c.Props = map[string]string{"k": "\xff"} }},
		{"label", []string{`"a,b"`, "without commas"}, func(c *jobtype.Config) { c.Label = "a,b" }},
		{"label", []string{`" a"`}, func(c *jobtype.Config) { c.Label = " a" }},
		{"label", []string{"UTF-8"}, func(c *jobtype.Config) { c.Label = "\xff" }},
	} {
		c := with(tc.change)
		err := c.Validate()
		var all *jobtype.ConfigError
		if !errors.Is(err, jobtype.ErrInvalidConfig) || !errors.As(err, &all) {
			t.Errorf("%s: got %v", tc.field, err)
			continue
		}
		if all.Job != c.Name || len(all.Faults) != 1 || all.Faults[0].Field != tc.field {
			t.Errorf("%s: got the faults %v of %q", tc.field, all.Faults, all.Job)
			continue
		}
		for _, part := range append(tc.says, tc.field) {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %q does not say %s", tc.field, err, part)
			}
		}
		if _, err := c.Encode(nil); !errors.Is(err, jobtype.ErrInvalidConfig) {
			t.Errorf("%s: written nevertheless: %v", tc.field, err)
		}
	}
}

// The error lists all faults, each with its field.
func TestAllFaultsTogether(t *testing.T) {
	err := jobtype.Config{Name: "a/b", Cron: "x", TimeZone: "y", ShardingItemParameters: "5", Threads: -1}.Validate()
	var all *jobtype.ConfigError
	if !errors.As(err, &all) {
		t.Fatal(err)
	}
	var fields []string
	for _, fault := range all.Faults {
		fields = append(fields, fault.Field)
	}
	if got, want := strings.Join(fields, " "), "jobName timeZone cron shardingTotalCount shardingItemParameters props: executor.threads"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	var expression *cronexpr.ParseError
	if !errors.As(err, &expression) {
		t.Error("the cause of a fault cannot be found")
	}
	var one *jobtype.FieldError
	if !errors.As(err, &one) || one.Field != "jobName" {
		t.Errorf("first fault: %v", one)
	}
}

// Properties may be secret, so errors do not show them.
func TestErrorsDoNotShowProps(t *testing.T) {
	c := with(func(c *jobtype.Config) { c.Props = map[string]string{"email.password": "hunter2\xff"} })
	if err := c.Validate(); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("got %v", err)
	}
}

// Errors shorten long texts.
func TestErrorsStayShort(t *testing.T) {
	c := with(func(c *jobtype.Config) {
		c.Name = strings.Repeat("/", 1<<20)
		c.ShardingItemParameters = strings.Repeat("x", 1<<20)
		c.Label = strings.Repeat(",", 1<<20)
	})
	if err := c.Validate(); err == nil || len(err.Error()) > 10_000 {
		t.Errorf("%d bytes", len(err.Error()))
	}
}
