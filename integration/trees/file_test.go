package trees_test

import (
	"bufio"
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/jobtest"
)

// namespace is that of a jobtest.Cluster.
const namespace = "jobtest"

// tree is all nodes of a namespace at a moment.
type tree struct {
	at    time.Time
	nodes []coord.Node // parents come before their children; an Owner is the number of a session, from 1
}

const head = `# A namespace as elasticjob %s has written it. A node is its path, the numbers of the commits that created it and wrote it
# last, its version and, if it is ephemeral, its session. Lines of its value begin with a bar.
at %s
`

// text returns the text of a file, which parse reads.
func (tr tree) text(version string) []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, head, version, tr.at.UTC().Format(time.RFC3339Nano))
	for _, n := range tr.nodes {
		fmt.Fprintf(&out, "%s %d %d %d", n.Path, n.Created, n.Modified, n.Version)
		if n.Ephemeral() {
			fmt.Fprintf(&out, " session %d", n.Owner)
		}
		out.WriteString("\n")
		if len(n.Value) > 0 {
			for line := range strings.SplitSeq(string(n.Value), "\n") {
				out.WriteString(strings.TrimSuffix("| "+line, " ") + "\n")
			}
		}
	}
	return out.Bytes()
}

// parse reads a file.
func parse(text []byte) (tr tree, err error) {
	in := bufio.NewScanner(bytes.NewReader(text))
	in.Buffer(nil, 1<<20)
	for hasValue := false; in.Scan(); {
		line := in.Text()
		if value, ok := strings.CutPrefix(line, "|"); ok {
			last := &tr.nodes[len(tr.nodes)-1]
			if hasValue {
				last.Value = append(last.Value, '\n')
			}
			last.Value, hasValue = append(last.Value, strings.TrimPrefix(value, " ")...), true
			continue
		}
		hasValue = false
		switch words := strings.Fields(line); {
		case words[0] == "#":
		case words[0] == "at":
			if tr.at, err = time.Parse(time.RFC3339Nano, words[1]); err != nil {
				return tr, err
			}
		default:
			n := coord.Node{Path: words[0]}
			if _, err = fmt.Sscan(strings.Join(words[1:4], " "), &n.Created, &n.Modified, &n.Version); err != nil {
				return tr, fmt.Errorf("%q: %w", line, err)
			}
			if len(words) > 4 {
				if _, err = fmt.Sscan(words[5], &n.Owner); err != nil {
					return tr, fmt.Errorf("%q: %w", line, err)
				}
			}
			tr.nodes = append(tr.nodes, n)
		}
	}
	return tr, in.Err()
}

// dump reads the namespace of a cluster.
func dump(c *jobtest.Cluster) tree {
	tr, sessions := tree{at: time.Now()}, map[coord.SessionID]coord.SessionID{}
	for n := range c.Store().Snapshot(namespace).All("") {
		if n.Ephemeral() {
			if sessions[n.Owner] == 0 {
				sessions[n.Owner] = coord.SessionID(len(sessions) + 1)
			}
			n.Owner = sessions[n.Owner]
		}
		tr.nodes = append(tr.nodes, n)
	}
	return tr
}

// newCluster returns a cluster whose store counts its commits from 1.
func newCluster(t *testing.T) *jobtest.Cluster {
	c := jobtest.NewCluster(t)
	c.Store().Restore(memory.Saved{})
	c.Advance(time.Minute) // the session of Cluster.Ops is a new one
	return c
}

// restore makes the same nodes in the store of a new cluster, at the same time, by commits with the same numbers: so
// what documents say of commits is right. It returns the registries whose sessions the ephemeral nodes have; they live.
func (tr tree) restore(t *testing.T, c *jobtest.Cluster) []*memory.Registry {
	t.Helper()
	c.AdvanceTo(tr.at)
	dial := func() *memory.Registry {
		r, err := c.Store().Dial(t.Context(), memory.Config{Namespace: namespace, Name: "earlier"})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	var sessions []*memory.Registry
	others := dial()
	commits, owners := map[int64][]coord.Op{}, map[int64]coord.SessionID{}
	add := func(number int64, op coord.Op) { commits[number] = append(commits[number], op) }
	for _, n := range tr.nodes {
		if n.Ephemeral() {
			for len(sessions) < int(n.Owner) {
				sessions = append(sessions, dial())
			}
			add(n.Created, coord.CreateEphemeral(n.Path, n.Value))
			owners[n.Created] = n.Owner
		} else {
			add(n.Created, coord.Put(n.Path, n.Value))
		}
		for i := range n.Version {
			add(n.Modified-i, coord.Set(n.Path, n.Value))
		}
	}
	const filler = "filler" // what was removed
	for number := range slices.Max(slices.Collect(maps.Keys(commits))) {
		by, ops := others, commits[number+1]
		if owner := owners[number+1]; owner != 0 {
			by = sessions[owner-1]
		}
		if len(ops) == 0 {
			ops = []coord.Op{coord.Put(filler, nil)}
		}
		got, err := by.Commit(t.Context(), ops...)
		if err != nil || got != number+1 {
			t.Fatalf("commit %d has the number %d: %v", number+1, got, err)
		}
	}
	if _, err := others.Commit(t.Context(), coord.Delete(filler)); err != nil {
		t.Fatal(err)
	}
	if err := others.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	return sessions
}
