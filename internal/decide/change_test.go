package decide

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/coord"
)

// TestChangesFitIntoCommits: ops that belong together stay together, in changes that a
// store takes in one commit, each under the same conditions.
func TestChangesFitIntoCommits(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		c := changes{step: "s", head: headOf(coord.Owned("a/x"), coord.Exists("a/y"))}
		c.most = rapid.SampledFrom([]int{0, 0, 1, 7}).Draw(r, "parts at most")
		groups := rapid.SliceOfN(rapid.IntRange(1, 5), 1, 300).Draw(r, "groups")
		want := 0
		for i, n := range groups {
			want += n
			var ops []coord.Op
			for k := range n {
				ops = append(ops, coord.Delete(fmt.Sprintf("a/%d/%d", i, k)))
			}
			part := c.add(i, ops...)
			last := c.list[len(c.list)-1]
			if got := last.Ops[len(last.Ops)-n:]; got[0].Path != ops[0].Path || part.Item != i || last.Path(*part) != ops[0].Path {
				r.Fatalf("group %d is torn", i)
			}
		}
		total := 0
		for _, change := range c.list {
			if err := coord.ValidateCommit(change.Ops...); err != nil {
				r.Fatal(err)
			}
			if change.Step != "s" || change.Ops[0].Path != "a/x" || change.Ops[1].Path != "a/y" {
				r.Fatalf("a change begins with %v", change.Ops[:2])
			}
			if c.most > 0 && len(change.Parts) > c.most {
				r.Fatalf("%d parts, at most %d are wanted", len(change.Parts), c.most)
			}
			total += len(change.Ops) - 2
		}
		if total != want {
			r.Fatalf("%d ops, want %d", total, want)
		}
	})
}

// What fits exactly is one commit.
func TestFullChanges(t *testing.T) {
	head := coord.Owned("head")
	each := coord.Exists("a/000")
	c := changes{step: "s", head: headOf(head)}
	n := (coord.MaxOps - coord.Cost(head)) / coord.Cost(each)
	for i := range n {
		c.add(i, coord.Exists(fmt.Sprintf("a/%03d", i)))
	}
	if len(c.list) != 1 || coord.Cost(c.list[0].Ops...) != coord.MaxOps {
		t.Fatalf("%d changes, the first of which costs %d", len(c.list), coord.Cost(c.list[0].Ops...))
	}
	c.add(n, coord.Exists("b"))
	if len(c.list) != 2 {
		t.Errorf("%d changes for one op more", len(c.list))
	}

	c = changes{step: "s", head: headOf(head)}
	rest := coord.MaxCommitBytes - len(head.Path) - len("a") - len("b") - len("v")
	c.add(0, coord.Put("a", []byte("v")))
	c.add(1, coord.Put("b", make([]byte, rest)))
	if err := coord.ValidateCommit(c.list[0].Ops...); len(c.list) != 1 || err != nil {
		t.Fatalf("%d changes: %v", len(c.list), err)
	}
	c = changes{step: "s", head: headOf(head)}
	c.add(0, coord.Put("a", []byte("v")))
	c.add(1, coord.Put("b", make([]byte, rest+1)))
	if len(c.list) != 2 {
		t.Errorf("%d changes for one byte more", len(c.list))
	}
}

// Values and conditions count too.
func TestLargeChanges(t *testing.T) {
	large := strings.Repeat("x", coord.MaxCommitBytes/3)
	c := changes{step: "s", head: headOf(coord.Put("head", []byte(large)))}
	for i := range 4 {
		c.add(i, coord.Put(fmt.Sprintf("a/%d", i), []byte(large)))
	}
	if len(c.list) != 4 {
		t.Errorf("%d changes", len(c.list))
	}
	for _, change := range c.list {
		if err := coord.ValidateCommit(change.Ops...); err != nil {
			t.Error(err)
		}
	}
}

func TestInChunks(t *testing.T) {
	if got := InChunks("none", nil); len(got) > 0 {
		t.Errorf("got %+v", got)
	}
	var groups [][]coord.Op
	for i := range coord.MaxOps {
		groups = append(groups, []coord.Op{coord.Exists(fmt.Sprintf("a/%d", i)), coord.Put(fmt.Sprintf("b/%d", i), nil)})
	}
	list := InChunks("ask", groups)
	var got [][]coord.Op
	for _, change := range list {
		if err := coord.ValidateCommit(change.Ops...); err != nil || change.Step != "ask" {
			t.Errorf("step %q: %v", change.Step, err)
		}
		for _, p := range change.Parts {
			got = append(got, change.Ops[p.from:p.to])
			if p.Item != NoItem {
				t.Errorf("item %d", p.Item)
			}
		}
	}
	same := slices.EqualFunc(got, groups, func(a, b []coord.Op) bool {
		return slices.EqualFunc(a, b, func(a, b coord.Op) bool { return a.Kind == b.Kind && a.Path == b.Path })
	})
	if !same || len(list) < 2 {
		t.Errorf("%d groups in %d changes", len(got), len(list))
	}
}

// TestPartsOfChanges: what is left of a change has the conditions of all, and with each
// part what follows from it.
func TestPartsOfChanges(t *testing.T) {
	ended := &Run{Claim: Claim{Item: 1}}
	whole := func() Change {
		c := changes{step: "s", isRepair: true, head: headOf(coord.Owned("x"), coord.Exists("y"))}
		c.add(0, coord.Exists("0/a"), coord.Delete("0/b")).Claim = &Claim{Item: 0}
		c.add(1, coord.Delete("1/a")).Ends = ended
		c.add(NoItem, coord.Delete("2/a"), coord.Delete("2/b"), coord.Delete("2/c"))
		c.add(0, coord.Delete("3/a")).Claim = &Claim{Item: 0, Parameter: "again"}
		return c.list[0]
	}
	for _, tc := range []struct {
		name   string
		rest   func(*Change) Change
		paths  string
		claims []Claim
		ends   *Run
	}{
		{"all", func(c *Change) Change { return c.Keep(func(Part) bool { return true }) }, "x y 0/a 0/b 1/a 2/a 2/b 2/c 3/a", []Claim{{}, {Parameter: "again"}}, ended},
		{"none", func(c *Change) Change { return c.Keep(func(Part) bool { return false }) }, "x y", nil, nil},
		{"of no item", func(c *Change) Change { return c.Keep(func(p Part) bool { return p.Item == NoItem }) }, "x y 2/a 2/b 2/c", nil, nil},
		{"without the first", func(c *Change) Change { return c.Without(0) }, "x y 1/a 2/a 2/b 2/c 3/a", []Claim{{Parameter: "again"}}, ended},
		{"without the second", func(c *Change) Change { return c.Without(1) }, "x y 0/a 0/b 2/a 2/b 2/c 3/a", []Claim{{}, {Parameter: "again"}}, nil},
		{"without the last, of the same item as the first", func(c *Change) Change { return c.Without(3) }, "x y 0/a 0/b 1/a 2/a 2/b 2/c", []Claim{{}}, ended},
		{"the first half", func(c *Change) Change { first, _ := c.Halves(); return first }, "x y 0/a 0/b 1/a", []Claim{{}}, ended},
		{"the second half", func(c *Change) Change { _, second := c.Halves(); return second }, "x y 2/a 2/b 2/c 3/a", []Claim{{Parameter: "again"}}, nil},
		{"the first half of three", func(c *Change) Change { c2 := c.Without(0); first, _ := c2.Halves(); return first }, "x y 1/a", nil, ended},
		{"twice", func(c *Change) Change { c2 := c.Without(0); return c2.Without(0) }, "x y 2/a 2/b 2/c 3/a", []Claim{{Parameter: "again"}}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := whole()
			rest := tc.rest(&c)
			if rest.Step != "s" || !rest.IsRepair {
				t.Errorf("step %q, heals %v", rest.Step, rest.IsRepair)
			}
			if got := pathsOf(rest.Ops); got != tc.paths {
				t.Errorf("ops of %s, want %s", got, tc.paths)
			}
			if got := rest.Claims(); !slices.Equal(got, tc.claims) {
				t.Errorf("claims %v, want %v", got, tc.claims)
			}
			var ends *Run
			for _, p := range rest.Parts {
				if p.Ends != nil {
					ends = p.Ends
				}
				if first := rest.Ops[p.from]; rest.Path(p) != first.Path || rest.Name(p) != "s "+first.Path {
					t.Errorf("the part of %s has the name %q", first.Path, rest.Name(p))
				}
			}
			if ends != tc.ends {
				t.Errorf("ends %v", ends)
			}
			for op := range rest.Ops {
				part := rest.PartOf(op)
				if (part < 0) != (op < 2) || part >= 0 && (op < rest.Parts[part].from || op >= rest.Parts[part].to) {
					t.Errorf("op %d belongs to part %d", op, part)
				}
			}
			if got := pathsOf(c.Ops); got != "x y 0/a 0/b 1/a 2/a 2/b 2/c 3/a" {
				t.Errorf("the whole has changed: %s", got)
			}
		})
	}
	t.Run("a change without parts", func(t *testing.T) {
		c := Change{Step: "s", Ops: []coord.Op{coord.Owned("x"), coord.Delete("y")}}
		rest := c.Keep(func(Part) bool { return false })
		if pathsOf(rest.Ops) != "x y" || c.PartOf(1) != -1 {
			t.Errorf("got %+v", rest)
		}
	})
}

func pathsOf(ops []coord.Op) string {
	var paths []string
	for _, op := range ops {
		paths = append(paths, op.Path)
	}
	return strings.Join(paths, " ")
}

// headOf returns a head of changes.
func headOf(ops ...coord.Op) func(*World) []coord.Op {
	return func(*World) []coord.Op { return slices.Clone(ops) }
}
