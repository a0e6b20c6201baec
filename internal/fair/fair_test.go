package fair_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/internal/fair"
)

// Each letter is an entry of its owner, the oldest first; a capital one is three times as large.
func entriesOf(list string) []fair.Entry {
	var all []fair.Entry
	for _, r := range list {
		owner, size := string(r), 1
		if lower := strings.ToLower(owner); lower != owner {
			owner, size = lower, 3
		}
		all = append(all, fair.Entry{Owner: owner, Size: size})
	}
	return all
}

func TestDrop(t *testing.T) {
	for _, c := range []struct {
		list string
		most int
		want string // what goes is a dot
	}{
		{"", 0, ""},
		{"abab", 4, "abab"},
		{"aaabb", 0, "....."},
		{"baaaa", 3, "b..aa"}, // the flood of one
		{"bbaaaaaa", 4, "bb....aa"},
		{"abcabcabc", 6, "...abcabc"}, // equal ones lose the oldest
		{"abcdef", 3, "...def"},       // more owners than room
		{"aBaaa", 4, "..aaa"},         // both have three then
		{"Baaaa", 6, "B.aaa"},
		{"Bbaaa", 4, ".baaa"}, // sizes count, not entries
	} {
		goes := fair.Drop(entriesOf(c.list), c.most)
		got := []byte(c.list)
		for i := range got {
			if goes[i] {
				got[i] = '.'
			}
		}
		if string(got) != c.want {
			t.Errorf("%s within %d: %s, want %s", c.list, c.most, got, c.want)
		}
	}
}

// Whatever the others do: what stays fits, who has his share or less loses nothing, and what somebody loses is older than
// what he keeps.
func TestDropIsFair(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var list []fair.Entry
		sizes := map[string]int{}
		for range r.IntN(200) {
			e := fair.Entry{Owner: fmt.Sprint(min(r.IntN(8), r.IntN(8))), Size: 1 + r.IntN(5)}
			list = append(list, e)
			sizes[e.Owner] += e.Size
		}
		most, total, keeps := r.IntN(300), 0, map[string]bool{}
		goes := fair.Drop(list, most)
		for i, e := range list {
			if !goes[i] {
				keeps[e.Owner] = true
				total += e.Size
				continue
			}
			if keeps[e.Owner] || sizes[e.Owner] <= most/len(sizes) {
				t.Fatalf("%+v within %d: %v", list, most, goes)
			}
		}
		if total > most || !slices.Contains(goes, true) && total != sum(sizes) {
			t.Fatalf("%+v within %d: %v", list, most, goes)
		}
	}
}

func sum(of map[string]int) (total int) {
	for _, n := range of {
		total += n
	}
	return total
}

func TestOwner(t *testing.T) {
	for actor, want := range map[string]string{"anna": "anna", "anna (token deploy)": "anna", "oidc:anna@example.com": "oidc:anna@example.com", "": ""} {
		if got := fair.Owner(actor); got != want {
			t.Errorf("%q: %q", actor, got)
		}
	}
}
