package jobtree_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// A value that is larger than its kind can be is not read, and is named; whoever has the job in a view or reads it node by
// node. When it is written shorter or removed it is over.
func TestValuesThatAreTooLarge(t *testing.T) {
	const size = 900_000
	long := strings.Repeat("x", size)
	values := map[string]string{
		"settle": long, "settle/faults/a": long, "settle/sharding/0/instance": long, "settle/sharding/0/fired": long, "settle/junk/x": long, "settle/cursor/0": long,
		"settle/config": long, "settle/requests/1": long, "settle/faults/b": "faults: []", "settle/sharding/1/instance": id,
		"settle/cursor/1": strings.Repeat("c", 100_000), "settle/junk/y": strings.Repeat("j", 1000), // of others, and no harm
	}
	bounded := coord.NewTree(jobtree.SharedBounds())
	reader := jobtree.NewReader("settle")
	for n := range tree(values).All("") {
		bounded.Put(n)
		reader.Add(n)
	}
	held := 0
	for n := range bounded.Snapshot().All("") {
		held += len(n.Value)
	}
	if held > size+1000 { // only a configuration can be as large
		t.Errorf("a view holds %d bytes", held)
	}
	followed := jobtree.Read(coord.Snapshot{}, "settle")
	followed.Follow(bounded.Snapshot(), coord.Snapshot{}, "settle")
	for name, s := range map[string]*jobtree.State{"view": jobtree.Read(bounded.Snapshot(), "settle"), "reader": reader.State(), "followed": followed} {
		for path, value := range values {
			isTooLarge := value == long && path != "settle/config"
			if (s.TooLarge[path] == size) != isTooLarge || (s.TooLarge[path] > 0) != isTooLarge {
				t.Errorf("%s: %s is too large: %d", name, path, s.TooLarge[path])
			}
		}
		if text := fmt.Sprint(s.Implementation, string(s.Faults["a"].Value), s.Items[0].Owner.ID); len(text) > 200 {
			t.Errorf("%s: holds %d bytes", name, len(text))
		}
		if s.Items[0].Fired.Err == nil || s.Requests[0].Err == nil || s.Items[1].Owner.ID != id {
			t.Errorf("%s: %v %v %v", name, s.Items[0].Fired.Err, s.Requests[0].Err, s.Items[1].Owner)
		}
	}
	before := bounded.Snapshot()
	for path := range values {
		if path < "settle/faults/b" {
			bounded.Delete(path)
		} else {
			bounded.Put(coord.Node{Path: path, Value: []byte("v"), Version: 2})
		}
	}
	if followed.Follow(bounded.Snapshot(), before, "settle"); len(followed.TooLarge) > 0 {
		t.Errorf("still too large: %v", followed.TooLarge)
	}
}

// Many values that are each allowed are held up to a bound, too.
func TestValuesOfAJobThatAreTooLargeTogether(t *testing.T) {
	const count, size, most = 300, 500_000, 64 << 20
	r := jobtree.NewReader("settle")
	for i := range count {
		r.Add(coord.Node{Path: fmt.Sprintf("settle/requests/%03d", i), Value: make([]byte, size)})
	}
	held := 0
	for _, r := range r.State().Requests {
		held += len(r.Value)
	}
	if over := len(r.State().TooLarge); held > most || over != count-most/size {
		t.Errorf("%d bytes are held, %d nodes are too large", held, over)
	}
}
