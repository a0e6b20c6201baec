package etcd

import (
	"fmt"
	"slices"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"pgregory.net/rapid"

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
				r := keyRange{from: keys.key(p.path)}
				if p.below {
					r = keys.below(p.path)
				}
				got[p.written] = append(got[p.written], r)
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

func TestWhatMayShareARequest(t *testing.T) {
	node := func(path string) place { return place{path: path} }
	below := func(path string) place { return place{path: path, below: true} }
	written := func(p place) place { p.written = true; return p }
	for _, c := range []struct {
		name string
		a, b place
		want bool
	}{
		{"both read a node", node("a"), node("a"), true},
		{"one reads what the other writes", node("a"), written(node("a")), false},
		{"both write a node", written(node("a")), written(node("a")), false},
		{"other nodes", written(node("a/b")), written(node("a/c")), true},
		{"a node and its parent", written(node("a/b")), written(node("a")), true},
		{"both read a tree", below("a"), below("a"), true},
		{"a tree and a node in it, both read", below("a"), node("a/b/c"), true},
		{"a tree is read, a node in it is written", below("a"), written(node("a/b/c")), false},
		{"a tree is removed, a node in it is read", written(below("a")), node("a/b"), false},
		{"a tree is removed, a node in it is written", written(below("a")), written(node("a/b")), false},
		{"a tree does not have its root", written(below("a")), written(node("a")), true},
		{"a tree does not have siblings of its root", written(below("a")), written(node("a-b/c")), true},
		{"a tree does not have names that only begin alike", written(below("a")), written(node("ab")), true},
		{"a tree is removed, the same is read", written(below("a")), below("a"), false},
		{"a tree is removed, a part of it is read", written(below("a")), below("a/b"), false},
		{"a tree is removed, one around it is read", written(below("a/b")), below("a"), false},
		{"the same tree is removed twice", written(below("a")), written(below("a")), false},
		{"trees side by side are removed", written(below("a")), written(below("b")), true},
	} {
		for _, order := range [][2]place{{c.a, c.b}, {c.b, c.a}} {
			var o occupied
			o.clear()
			o.add([]place{node("z"), order[0], written(below("y"))})
			if got := o.admits([]place{node("x"), order[1]}); got != c.want {
				t.Errorf("%s: %+v after %+v: %t", c.name, order[1], order[0], got)
			}
			o.clear()
			if !o.admits([]place{order[1]}) {
				t.Errorf("%s: %+v does not fit an empty group", c.name, order[1])
			}
		}
	}
}

// A group admits what each of its members admits, whatever their order.
func TestAGroupAdmitsWhatItsMembersAdmit(t *testing.T) {
	footprints := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) place {
		path := rapid.SampledFrom([]string{"a", "b", "a/b", "a-b", "a/b/c", "a/bc", "b/a"}).Draw(t, "path")
		return place{path, rapid.Bool().Draw(t, "below"), rapid.Bool().Draw(t, "written")}
	}), 1, 3)
	rapid.Check(t, func(t *rapid.T) {
		var together occupied
		together.clear()
		all := true
		candidate := footprints.Draw(t, "candidate")
		for i := range rapid.IntRange(0, 4).Draw(t, "members") {
			member := footprints.Draw(t, fmt.Sprint("member ", i))
			together.add(member)
			all = all && !clash(member, candidate)
		}
		if got := together.admits(candidate); got != all {
			t.Errorf("admits: %t, one by one: %t", got, all)
		}
	})
}

// clash says the same as occupied, in the plainest way: by the keys that each may have.
func clash(a, b []place) bool {
	has := func(p place, path string) bool {
		if p.below {
			return len(path) > len(p.path) && path[:len(p.path)+1] == p.path+"/"
		}
		return path == p.path
	}
	// Every key that matters: the paths of the generator and one below each of them.
	for _, root := range []string{"a", "b", "a/b", "a-b", "a/b/c", "a/bc", "b/a"} {
		for _, path := range []string{root, root + "/leaf"} {
			for _, x := range a {
				for _, y := range b {
					if (x.written || y.written) && has(x, path) && has(y, path) {
						return true
					}
				}
			}
		}
	}
	return false
}
