package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestWrongArguments(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"-store mysql", "etcd and zookeeper"},
		{"-endpoints http://a:1", "host:port"},
		{"-endpoints a:1,,b:1", "host:port"},
		{"-jobs 0", "1 to 50000"},
		{"-jobs 60000 -bare", "0 to 50000"},
		{"-items 0", "1 to"},
		{"-processes 33", "1 to 32"},
		{"-threads -1", "0 to"},
		{"-starting 0", "1 to 1024"},
		{"-group 101", "1 to 100"},
		{"-flight 0", "1 to 64"},
		{"-for 1ms", "1s to 1h"},
		{"-warm -1s", "0s to 10m"},
		{"-work -1s", "0s to 1h"},
		{"-session 1ms", "1s to 10m"},
		{"-cron never", "-cron"},
		{"-cron @yearly", "has no tick"},
		{"-bare -store zookeeper", "-store etcd"},
		{"-event fire", "join, leave and kill"},
		{"-event leave", "-processes"},
		{"-event kill -processes 2 -for 20s", "-for of 30s"},
		{"-jobs 50000 -for 1m", "up to 2000000"},
		{"-jobs 50000 -items 100000 -idle", "up to 2000000"},
		{"more", "only flags"},
		{"-unknown", "-unknown"},
	} {
		var out, progress bytes.Buffer
		status := load(t.Context(), strings.Fields(c.args), &out, &progress)
		if status != statusUsage || !strings.Contains(progress.String(), c.want) || out.Len() > 0 {
			t.Errorf("%s: status %d, %q", c.args, status, progress.String())
		}
	}
}

func TestWindow(t *testing.T) {
	at := func(text string) time.Time {
		t.Helper()
		when, err := time.ParseInLocation("15:04:05", text, time.Local)
		if err != nil {
			t.Fatal(err)
		}
		return when.AddDate(2026, 0, 0)
	}
	for _, c := range []struct {
		args                 string
		earliest, from       string
		ticks                int
		middle, middleOfLong string // without work, and with work of 4 s
	}{
		{"-for 10s", "12:00:00.0", "12:00:00.0", 10, "12:00:05.3", "12:00:06.25"},
		{"-for 10s", "12:00:00.1", "12:00:01.0", 10, "12:00:06.3", "12:00:07.25"},
		{"-for 10s -cron 0/4_*_*_*_*_?", "12:00:01.0", "12:00:04.0", 3, "12:00:08.3", "12:00:09.25"},
		{"-for 10s -idle", "12:00:00.1", "12:00:00.1", 0, "12:00:05.4", "12:00:06.35"},
	} {
		args := strings.Fields(c.args)
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "_", " ")
		}
		o, err := parse(args, new(bytes.Buffer))
		if err != nil {
			t.Fatal(err)
		}
		w := o.window(at(c.earliest))
		if !w.From.Equal(at(c.from)) || w.Until.Sub(w.From) != o.For || len(w.ticks) != c.ticks {
			t.Errorf("%s: %v to %v with %d ticks", c.args, w.From, w.Until, len(w.ticks))
		}
		if middle := o.middle(w); !middle.Equal(at(c.middle)) {
			t.Errorf("%s: the middle is %v", c.args, middle)
		}
		o.Work = 4 * time.Second
		if middle := o.middle(w); !middle.Equal(at(c.middleOfLong)) {
			t.Errorf("%s: the middle of work is %v", c.args, middle)
		}
	}
}
