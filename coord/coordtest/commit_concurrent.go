package coordtest

import (
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/elasticjob-go/elasticjob/coord"
)

func oneCreates(e *env) {
	const contenders = 8
	registries := []*client{e.dial(), e.dial()}
	for round := range 5 {
		path := fmt.Sprintf("a/%d", round)
		errs := make([]error, contenders)
		var wg sync.WaitGroup
		for i := range contenders {
			wg.Go(func() {
				_, errs[i] = registries[i%2].Commit(e.ctx, coord.Create(path, []byte(strconv.Itoa(i))))
			})
		}
		wg.Wait()
		won := -1
		for i, err := range errs {
			switch {
			case err == nil && won >= 0:
				e.Errorf("%d and %d both created %s", won, i, path)
			case err == nil:
				won = i
			default:
				e.wantErr(err, coord.ErrNodeExists)
			}
		}
		if got := string(registries[0].get(path).Value); got != strconv.Itoa(won) {
			e.Errorf("%d created %s, its value is of %s", won, path, got)
		}
	}
}

// manyCallers: what an adapter sends together it answers apart. Writes of one node have
// different numbers; those of other nodes may share one.
func manyCallers(e *env) {
	const callers, rounds = 32, 4
	r := e.dial()
	r.commit(coord.Put("there", nil))
	var mu sync.Mutex
	numbers := make(map[int64]int)
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			for round := range rounds {
				own := fmt.Sprintf("own/%d/%d", i, round)
				created, err := r.Commit(e.ctx, coord.Create(own, []byte(own)))
				if err != nil {
					e.Errorf("%s: %v", own, err)
				}
				if n, err := r.Get(e.ctx, own); err != nil || string(n.Value) != own || n.Modified != created {
					e.Errorf("%s: got %+v, %v; it was written at %d", own, n, err, created)
				}
				_, err = r.Commit(e.ctx, coord.Put(own+"/b", nil), coord.Create("there", nil))
				conflict := (*coord.ConflictError)(nil)
				if !errors.As(err, &conflict) || conflict.Index != 1 || conflict.Reason != coord.ErrNodeExists {
					e.Errorf("%s: got the error %v", own, err)
				}
				same, err := r.Commit(e.ctx, coord.Put("same", []byte(own)))
				if err != nil {
					e.Errorf("same: %v", err)
				}
				mu.Lock()
				numbers[same]++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if len(numbers) != callers*rounds {
		e.Errorf("%d writes of one node have %d numbers", callers*rounds, len(numbers))
	}
	if n := r.get("same"); numbers[n.Modified] == 0 {
		e.Errorf("the node was written at %d, which no commit was told", n.Modified)
	}
}

func countUp(e *env) {
	const writers, rounds = 4, 10
	registries := []*client{e.dial(), e.dial()}
	registries[0].commit(coord.Put("counter", []byte("0")))
	var wg sync.WaitGroup
	for i := range writers {
		r := registries[i%2]
		wg.Go(func() {
			for done := 0; done < rounds; {
				n, err := r.Get(e.ctx, "counter")
				if err != nil {
					e.Error(err)
					return
				}
				count, _ := strconv.Atoi(string(n.Value))
				_, err = r.Commit(e.ctx, coord.SetAt("counter", []byte(strconv.Itoa(count+1)), n.Version))
				switch {
				case err == nil:
					done++
				case !errors.Is(err, coord.ErrVersion):
					e.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if got := string(registries[0].get("counter").Value); got != strconv.Itoa(writers*rounds) {
		e.Errorf("counted to %s, want %d", got, writers*rounds)
	}
}

func oneMoves(e *env) {
	r, s := e.dial(), e.dial()
	for round := range 10 {
		from, to1, to2 := fmt.Sprintf("%d/from", round), fmt.Sprintf("%d/to/1", round), fmt.Sprintf("%d/to/2", round)
		r.commit(coord.Put(from, nil))
		var errs [2]error
		var wg sync.WaitGroup
		wg.Go(func() { _, errs[0] = r.Commit(e.ctx, coord.Delete(from), coord.Create(to1, nil)) })
		wg.Go(func() { _, errs[1] = s.Commit(e.ctx, coord.Create(to2, nil), coord.Delete(from)) })
		wg.Wait()
		if (errs[0] == nil) == (errs[1] == nil) {
			e.Errorf("outcomes %v and %v", errs[0], errs[1])
		}
		if r.there(to1) != (errs[0] == nil) || r.there(to2) != (errs[1] == nil) || r.there(from) {
			e.Errorf("round %d: the tree does not agree with the outcomes %v and %v", round, errs[0], errs[1])
		}
	}
}
