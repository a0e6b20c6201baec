package main

import (
	"strings"
	"testing"
	"time"
)

func TestSpread(t *testing.T) {
	upTo := func(n int) (all []time.Duration) {
		for i := range n {
			all = append(all, time.Duration(n-i)*time.Millisecond) // not sorted
		}
		return all
	}
	for n, want := range map[int]spread{
		0:   {},
		1:   {1, 1, 1, 1},
		2:   {1, 2, 2, 2},
		10:  {5, 9, 10, 10},
		100: {50, 90, 99, 100},
		101: {51, 91, 100, 101},
	} {
		if got := spreadOf(upTo(n)); got != want {
			t.Errorf("of %d: %v, not %v", n, got, want)
		}
	}
}

func TestParseStat(t *testing.T) {
	parent, used, err := parseStat([]byte("42 (a (strange) name) S 7 42 42 0 -1 4194560 1 2 3 4 150 25 9 9 20 0 1 0"))
	if err != nil || parent != 7 || used != 1750*time.Millisecond {
		t.Errorf("parent %d, used %v, %v", parent, used, err)
	}
	for _, text := range []string{"", "42 (a) S 7", "42 (a) S x 42 42 0 -1 4194560 1 2 3 4 150 25 9"} {
		if _, _, err := parseStat([]byte(text)); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

func TestParseMachine(t *testing.T) {
	used, err := parseMachine("cpu  100 20 30 5000 600 7 8 0 0 0\ncpu0 1 2 3\n")
	if err != nil || used != 1650*time.Millisecond {
		t.Errorf("used %v, %v", used, err)
	}
	for _, text := range []string{"", "cpu 1 2", "cpu a b c d e f g h"} {
		if _, err := parseMachine(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

func TestParseMetrics(t *testing.T) {
	got, err := parseMetrics(strings.NewReader(`# HELP process_cpu_seconds_total 99
process_cpu_seconds_total 1.5
etcd_debugging_mvcc_current_revision 12345
etcd_disk_wal_fsync_duration_seconds_bucket{le="0.001"} 7
etcd_disk_wal_fsync_duration_seconds_count 8
grpc_server_handled_total{grpc_code="OK",grpc_method="Txn",grpc_service="etcdserverpb.KV"} 100
grpc_server_handled_total{grpc_code="Not Found",grpc_method="Txn",grpc_service="etcdserverpb.KV"} 1e1
grpc_server_handled_total{grpc_code="OK",grpc_method="Put",grpc_service="etcdserverpb.KV"} 1000
`))
	if want := (served{1500 * time.Millisecond, 110, 12345, 8}); err != nil || got != want {
		t.Errorf("%+v, %v; not %+v", got, err, want)
	}
	if got, err := parseMetrics(strings.NewReader("")); err != nil || got.cpu >= 0 || got.requests >= 0 || got.revisions >= 0 || got.fsyncs >= 0 {
		t.Errorf("of nothing: %+v, %v", got, err)
	}
}

func TestUnknownStaysUnknown(t *testing.T) {
	none := served{unknown, unknown, unknown, unknown}
	some := served{time.Second, 1, 2, 3}
	for _, got := range []served{none.minus(some), some.minus(none), none.minus(none)} {
		if got != none {
			t.Errorf("%+v", got)
		}
	}
	if got := some.minus(served{}); got != some {
		t.Errorf("%+v", got)
	}
}
