package etcd

import (
	"slices"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/elasticjob-go/elasticjob/coord"
)

// ops of all kinds on one path; each is tried with both guesses.
var opsOfAllKinds = []func(path string) coord.Op{
	func(p string) coord.Op { return coord.Create(p, nil) },
	func(p string) coord.Op { return coord.CreateEphemeral(p, nil) },
	func(p string) coord.Op { return coord.Put(p, nil) },
	func(p string) coord.Op { return coord.Set(p, nil) },
	func(p string) coord.Op { return coord.SetAt(p, nil, 1) },
	coord.Delete,
	coord.DeleteTree,
	coord.Exists,
	coord.Absent,
	func(p string) coord.Op { return coord.AtVersion(p, 1) },
	coord.Owned,
}

// A footprint has all keys that the request mentions, and no others.
func TestFootprintIsThatOfTheRequest(t *testing.T) {
	keys := newKeyspace("n")
	for _, parent := range []bool{false, true} {
		for _, op := range opsOfAllKinds {
			tr := transaction{keys: keys, ops: []coord.Op{op("a/b")}, guesses: []guess{{isParent: parent}}, session: &session{lease: 1}}
			reads, writes := mentioned(tr.request(true))
			got := map[bool][]keyRange{}
			for _, p := range tr.footprint() {
				r := keyRange{from: keys.key(p.Path)}
				if p.Below {
					r = keys.below(p.Path)
				}
				got[p.Written] = append(got[p.Written], r)
			}
			for _, r := range writes {
				if !slices.Contains(got[true], r) {
					t.Errorf("%v, parent %t: writes %v, which the footprint %v lacks", tr.ops[0], parent, r, got)
				}
			}
			for _, r := range reads {
				if !slices.Contains(got[true], r) && !slices.Contains(got[false], r) {
					t.Errorf("%v, parent %t: reads %v, which the footprint %v lacks", tr.ops[0], parent, r, got)
				}
			}
			for _, r := range slices.Concat(got[true], got[false]) {
				if !slices.Contains(reads, r) && !slices.Contains(writes, r) {
					t.Errorf("%v, parent %t: the footprint has %v, which the request does not need", tr.ops[0], parent, r)
				}
			}
		}
	}
}

// mentioned is what a request reads and writes, in both branches.
func mentioned(request *pb.TxnRequest) (reads, writes []keyRange) {
	for _, c := range request.Compare {
		reads = append(reads, keyRange{string(c.Key), string(c.RangeEnd)})
	}
	for _, op := range slices.Concat(request.Success, request.Failure) {
		switch {
		case op.GetRequestRange() != nil:
			reads = append(reads, keyRange{string(op.GetRequestRange().Key), string(op.GetRequestRange().RangeEnd)})
		case op.GetRequestPut() != nil:
			writes = append(writes, keyRange{from: string(op.GetRequestPut().Key)})
		case op.GetRequestDeleteRange() != nil:
			writes = append(writes, keyRange{string(op.GetRequestDeleteRange().Key), string(op.GetRequestDeleteRange().RangeEnd)})
		}
	}
	return reads, writes
}
