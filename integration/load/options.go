package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/job/cronexpr"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// The stores.
const (
	etcdStore = "etcd"
	zkStore   = "zookeeper"
)

// What may happen to a process in the middle of the window.
const (
	eventJoin  = "join"
	eventLeave = "leave"
	eventKill  = "kill"
)

// options are what is run.
type options struct {
	Store     string        `json:"store"`
	Endpoints []string      `json:"endpoints,omitempty"` // empty is a server of our own
	Jobs      int           `json:"jobs"`
	Items     int           `json:"items"`
	Cron      string        `json:"cron"`
	Idle      bool          `json:"idle,omitempty"`
	Processes int           `json:"processes"`
	Starting  int           `json:"starting"`
	Warm      time.Duration `json:"warm_ns"`
	For       time.Duration `json:"for_ns"`
	Work      time.Duration `json:"work_ns"`
	Threads   int           `json:"threads"`
	Early     time.Duration `json:"early_ns"`
	Monitor   bool          `json:"monitor"`
	Session   time.Duration `json:"session_ns"`
	Event     string        `json:"event,omitempty"`
	Bare      bool          `json:"bare,omitempty"`
	Group     int           `json:"group"`
	Flight    int           `json:"flight"`

	json     bool
	schedule *cronexpr.Schedule
}

// never is a schedule whose only tick is far away.
const never = "0 0 0 31 12 ? 2099"

// maxRuns bounds the executions of the window. A server of our own is not compacted, and
// an etcd with its default quota takes about as many.
const maxRuns = 2_000_000

// adaptive stands for claims that are as early as they take.
const adaptive time.Duration = -1

// parse reads the arguments. Each error says what is allowed.
func parse(args []string, usage io.Writer) (options, error) {
	var o options
	var endpoints string
	f := flag.NewFlagSet("load", flag.ContinueOnError)
	f.SetOutput(usage)
	f.StringVar(&o.Store, "store", etcdStore, etcdStore+" or "+zkStore)
	f.StringVar(&endpoints, "endpoints", "", "host:port,… of a store without TLS and users; empty starts a server")
	f.IntVar(&o.Jobs, "jobs", 1000, "how many jobs each process starts; 0 with -bare alone")
	f.IntVar(&o.Items, "items", 1, "how many items each job has")
	f.StringVar(&o.Cron, "cron", "* * * * * ?", "when each job fires")
	f.BoolVar(&o.Idle, "idle", false, "no job fires; -cron is not used")
	f.IntVar(&o.Processes, "processes", 1, "how many processes run the jobs")
	f.IntVar(&o.Starting, "starting", 64, "how many jobs a process starts, or shuts down, at a time; 1 is one after the other")
	f.DurationVar(&o.Warm, "warm", 3*time.Second, "how long jobs run before the figures are taken")
	f.DurationVar(&o.For, "for", 10*time.Second, "how long the figures are taken")
	f.DurationVar(&o.Work, "work", 0, "how long a handler takes")
	f.IntVar(&o.Threads, "threads", 0, "how many items of a job a process runs at a time; 0 is all of them")
	o.Early = adaptive
	f.Func("early", "how long before its tick an item is claimed (job.WithEarlyClaims); by default as long as claims take", func(text string) (err error) {
		o.Early, err = time.ParseDuration(text)
		return err
	})
	f.BoolVar(&o.Monitor, "monitor", true, "MonitorExecution of the jobs")
	f.DurationVar(&o.Session, "session", 10*time.Second, "the session time-out")
	f.StringVar(&o.Event, "event", "", "what happens to a process in the middle: "+eventJoin+", "+eventLeave+" or "+eventKill)
	f.BoolVar(&o.Bare, "bare", false, "measure the limit of a bare etcd client first")
	f.IntVar(&o.Group, "group", 40, "with -bare: how many commits go in a request")
	f.IntVar(&o.Flight, "flight", 6, "with -bare: how many requests are in flight")
	f.BoolVar(&o.json, "json", false, "print JSON, and no table")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("argument %q: only flags are allowed", f.Arg(0))
	}
	if endpoints != "" {
		o.Endpoints = strings.Split(endpoints, ",")
	}
	if o.Idle {
		o.Cron = never
	}
	if err := o.validate(); err != nil {
		return o, err
	}
	if o.Threads == 0 {
		o.Threads = min(o.Items, jobtype.MaxThreads)
	}
	return o, nil
}

func (o *options) validate() (err error) {
	if o.Store != etcdStore && o.Store != zkStore {
		return fmt.Errorf("-store %q: %s and %s are allowed", o.Store, etcdStore, zkStore)
	}
	for _, e := range o.Endpoints {
		if e == "" || strings.Contains(e, "/") {
			return fmt.Errorf("-endpoints %q: host:port is allowed, with commas between several", e)
		}
	}
	fewest := 1
	if o.Bare {
		fewest = 0
	}
	for _, n := range []struct {
		flag               string
		value, least, most int
	}{
		{"jobs", o.Jobs, fewest, 50_000},
		{"items", o.Items, 1, min(100_000, jobtype.MaxShardingTotalCount)},
		{"processes", o.Processes, 1, 32},
		{"threads", o.Threads, 0, jobtype.MaxThreads},
		{"starting", o.Starting, 1, 1024},
		{"group", o.Group, 1, 100},
		{"flight", o.Flight, 1, 64},
	} {
		if n.value < n.least || n.value > n.most {
			return fmt.Errorf("-%s %d: %d to %d are allowed", n.flag, n.value, n.least, n.most)
		}
	}
	for _, d := range []struct {
		flag               string
		value, least, most time.Duration
	}{
		{"warm", o.Warm, 0, 10 * time.Minute},
		{"for", o.For, time.Second, time.Hour},
		{"work", o.Work, 0, time.Hour},
		{"early", o.Early, adaptive, 10 * time.Second},
		{"session", o.Session, time.Second, 10 * time.Minute},
	} {
		if d.value < d.least || d.value > d.most {
			return fmt.Errorf("-%s %v: %v to %v are allowed", d.flag, d.value, d.least, d.most)
		}
	}
	if o.schedule, err = cronexpr.Parse(o.Cron, time.Local); err != nil {
		return fmt.Errorf("-cron: %w", err)
	}
	if o.Bare && o.Store != etcdStore {
		return fmt.Errorf("-bare: only with -store %s", etcdStore)
	}
	if err := o.validateEvent(); err != nil {
		return err
	}
	return o.validateRuns()
}

func (o *options) validateEvent() error {
	switch o.Event {
	case "", eventJoin:
	case eventLeave, eventKill:
		if o.Processes < 2 {
			return fmt.Errorf("-event %s: needs -processes of 2 or more", o.Event)
		}
	default:
		return fmt.Errorf("-event %q: %s, %s and %s are allowed", o.Event, eventJoin, eventLeave, eventKill)
	}
	if least := 2 * (o.Session + 5*time.Second); o.Event == eventKill && o.For < least {
		return fmt.Errorf("-event %s: with -session %v it needs -for of %v or more, so that the end of the session is seen", eventKill, o.Session, least)
	}
	return nil
}

func (o *options) validateRuns() error {
	ticks := len(o.window(time.Now()).ticks)
	if ticks == 0 && !o.Idle && o.Jobs > 0 {
		return fmt.Errorf("-cron %q has no tick within -for %v; a longer time is allowed, or -idle", o.Cron, o.For)
	}
	if runs := o.Jobs * o.Items * max(ticks, 1); runs > maxRuns {
		return fmt.Errorf("%d jobs of %d items with %d ticks are %d executions; up to %d are allowed", o.Jobs, o.Items, ticks, runs, maxRuns)
	}
	return nil
}

// isHelp reports whether the user has asked what is allowed, and was told.
func isHelp(err error) bool { return errors.Is(err, flag.ErrHelp) }
