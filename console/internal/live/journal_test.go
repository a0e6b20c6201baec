package live

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/ops"
)

// Whoever reads a journal in whatever portions, and begins anew when it says so, ends with what it has.
func TestJournal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		j, want := newJournal(), map[string]string{}
		got, place := map[string]string{}, uint64(0)
		read := func(most int) {
			if place == 0 || place < j.floor {
				clear(got)
				place = 0
			}
			for e := range j.after(place) {
				if most--; most < 0 {
					return
				}
				if got[e.name] = string(e.json); e.json == nil {
					delete(got, e.name)
				}
				place = e.place
			}
		}
		for n := range rapid.IntRange(1, 400).Draw(t, "changes") {
			name := fmt.Sprint(rapid.IntRange(0, 20).Draw(t, "job"))
			switch rapid.IntRange(0, 9).Draw(t, "what") {
			case 0, 1, 2:
				j.remove(name)
				delete(want, name)
			case 3:
				read(rapid.IntRange(0, 30).Draw(t, "portion"))
			case 4:
				j.forget(rapid.IntRange(0, 3).Draw(t, "forgotten"))
			default:
				want[name] = fmt.Sprint(n)
				j.put(name, []byte(want[name]), nil)
			}
		}
		read(1000)
		if !maps.Equal(got, want) {
			t.Fatalf("read %v, want %v", got, want)
		}
	})
}

// Who comes back from before removals that are forgotten begins anew.
func TestForgottenRemovals(t *testing.T) {
	ids, err := newCursors()
	if err != nil {
		t.Fatal(err)
	}
	f := newFeed(topic{namespace: "shop"}, nil)
	take := func(isFirst bool, u ops.Update) {
		f.take(u, isFirst, func(i *ops.JobInfo) []byte { return []byte(`{"name":"` + i.Name + `"}`) })
	}
	take(true, ops.Update{Jobs: []ops.JobInfo{{Name: "a"}, {Name: "b"}, {Name: "c"}}})
	var r reader
	tells := func(want string) {
		t.Helper()
		told, _, _ := f.next(nil, &r, ids)
		if text := string(told); !strings.Contains(text, want) || want == "" && text != "" {
			t.Errorf("told %q, want %q", text, want)
		}
	}
	tells(`{"jobs":[{"name":"a"},{"name":"b"},{"name":"c"}]}`)
	take(false, ops.Update{Removed: []string{"a"}})
	f.journal.forget(1)
	tells("event: reset")
	tells("")
	take(true, ops.Update{Jobs: []ops.JobInfo{{Name: "b"}}}) // another watch
	tells(`{"removed":["c"]}`)
}

// Neither changes nor removals make a journal grow for ever.
func TestJournalIsBounded(t *testing.T) {
	j := newJournal()
	for n := range 3 * maxRemovals {
		j.put("same", []byte("1"), nil)
		j.put(fmt.Sprint(n), []byte("1"), nil)
		j.remove(fmt.Sprint(n))
	}
	if len(j.list) > 2*maxRemovals+200 || len(j.newest) > maxRemovals+2 || j.floor == 0 {
		t.Errorf("%d entries, %d of them newest; removals up to %d of %d are forgotten", len(j.list), len(j.newest), j.floor, j.last)
	}
}

func TestIDs(t *testing.T) {
	ids, err := newCursors()
	if err != nil {
		t.Fatal(err)
	}
	other, err := newCursors()
	if err != nil {
		t.Fatal(err)
	}
	id := string(ids.append(nil, 7, 99))
	for _, tt := range []struct {
		who  cursors
		text string
		mark uint64
		want uint64
	}{
		{ids, id, 99, 7}, {ids, id, 98, 0}, {other, id, 99, 0}, {ids, "", 99, 0}, {ids, id[1:], 99, 0}, {ids, "z" + id[1:], 99, 0}, {ids, id + id, 99, 0},
	} {
		if got := tt.who.place(tt.text, tt.mark); got != tt.want {
			t.Errorf("%q with mark %d: place %d, want %d", tt.text, tt.mark, got, tt.want)
		}
	}
}
