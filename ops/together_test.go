package ops_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/ops"
)

// standing is what operators have changed, as the audit tells it from the beginning: by what it is
// about, how that stands. What is not there stands as "".
type standing map[string]string

// replay returns how all stands after changes, the oldest of which is the first. It is an error if one
// of them does not begin with what the ones before have left. Where versions repeat, it may also begin with how
// something that is there was in an earlier life: see Change.
func replay(changes []ops.Change, versionsRepeat bool) (standing, error) {
	s := standing{}
	life, earlier := map[string][]string{}, map[string][]string{} // how it was in this life, and in those before
	move := func(what, before, after string) error {
		isOfEarlierLife := versionsRepeat && s[what] != "" && slices.Contains(earlier[what], before)
		if s[what] != before && !isOfEarlierLife {
			return fmt.Errorf("%s: was %q", what, s[what])
		}
		if after != "" {
			s[what], life[what] = after, append(life[what], after)
			return nil
		}
		earlier[what] = append(earlier[what], life[what]...)
		delete(s, what)
		delete(life, what)
		return nil
	}
	each := func(things []string, before, after string) (err error) {
		for _, what := range things {
			err = errors.Join(err, move(what, before, after))
		}
		return err
	}
	for _, c := range changes {
		var err error
		switch c.Action {
		case ops.ActionCreate, ops.ActionUpdate:
			err = move("config", c.Before, c.After)
			if c.Action == ops.ActionCreate {
				s["implementation"] = strings.TrimPrefix(c.Detail, "implementation ")
			}
		case ops.ActionRemove:
			err = move("config", c.Before, "")
			maps.DeleteFunc(s, func(what, _ string) bool { return !strings.HasPrefix(what, "calendar") })
		case ops.ActionImplement:
			err = move("implementation", c.Before, c.After)
		case ops.ActionPause:
			err = move("pause", "", "paused")
		case ops.ActionResume:
			err = move("pause", "paused", "")
		case ops.ActionPin, ops.ActionUnpin:
			err = move("pin "+c.Detail, c.Before, c.After)
		case ops.ActionDisableItems:
			err = each(itemsOf(c.Detail), "", "disabled")
		case ops.ActionEnableItems:
			err = each(itemsOf(c.Detail), "disabled", "")
		case ops.ActionDisableServers:
			err = each(strings.Split(strings.TrimPrefix(c.Detail, "servers "), ", "), "", "disabled")
		case ops.ActionEnableServers:
			err = each(strings.Split(strings.TrimPrefix(c.Detail, "servers "), ", "), "disabled", "")
		case ops.ActionPutCalendar, ops.ActionRemoveCalendar:
			err = move(c.Detail, c.Before, c.After)
		}
		if err != nil {
			return s, fmt.Errorf("%s by %s, %+v: %w", c.Action, c.By, c, err)
		}
	}
	return s, nil
}

// itemsOf reads "items 0-2, 4".
func itemsOf(detail string) (items []string) {
	_, numbers, _ := strings.Cut(detail, " ")
	for part := range strings.SplitSeq(numbers, ", ") {
		from, to, isRange := strings.Cut(part, "-")
		first, _ := strconv.Atoi(from) // the text is ours
		last, _ := strconv.Atoi(to)    // 0 if there is no range
		for i := first; i == first || isRange && i <= last; i++ {
			items = append(items, fmt.Sprint("item ", i))
		}
	}
	return items
}

// repeats reports whether a node that is removed and created again has the version that it had.
func repeats(ctx context.Context, reg coord.Registry) (bool, error) {
	var versions [2]int64
	for life := range versions {
		if _, err := reg.Commit(ctx, coord.Create("twice", nil)); err != nil {
			return false, err
		}
		n, err := reg.Get(ctx, "twice")
		if err != nil {
			return false, err
		}
		versions[life] = n.Version
		if _, err := reg.Commit(ctx, coord.Delete("twice")); err != nil {
			return false, err
		}
	}
	return versions[0] == versions[1], nil
}

// stands reads from the tree what replay tells.
func stands(ctx context.Context, reg coord.Registry) (standing, error) {
	s := standing{}
	for n, err := range reg.Walk(ctx, "") {
		if err != nil {
			return nil, err
		}
		parts := strings.Split(n.Path, "/")
		value := string(n.Value)
		switch {
		case n.Path == "settle":
			s["implementation"] = value
		case n.Path == "settle/config":
			s["config"] = value
		case n.Path == "settle/schedule" && strings.Contains(value, "\npaused:"):
			s["pause"] = "paused"
		case strings.HasPrefix(n.Path, "settle/pins/"):
			line, _, _ := strings.Cut(value, "\n")
			s["pin item "+parts[2]] = strings.Replace(line, "label: ", "label ", 1)
		case strings.HasPrefix(n.Path, "settle/sharding/") && parts[len(parts)-1] == "disabled":
			s["item "+parts[2]] = "disabled"
		case strings.HasPrefix(n.Path, "settle/servers/") && value == "DISABLED":
			s[parts[2]] = "disabled"
		case strings.HasPrefix(n.Path, "~elasticjob/calendars/"):
			s["calendar "+parts[2]] = value
		}
	}
	return s, nil
}

// deeds are what operators do to a job of four items. n chooses among variants.
var deeds = []func(ctx context.Context, o *ops.Ops, n int) error{
	func(ctx context.Context, o *ops.Ops, n int) error {
		there, err := o.Job("settle").Settings(ctx)
		if err != nil {
			return err
		}
		there.Config.JobParameter = fmt.Sprint(n)
		return o.Job("settle").Update(ctx, ops.UpdateRequest{Config: there.Config, Version: there.Version})
	},
	func(ctx context.Context, o *ops.Ops, n int) error {
		there, err := o.Job("settle").Settings(ctx)
		if err != nil {
			return err
		}
		return o.Job("settle").Implement(ctx, ops.ImplementRequest{From: there.Implementation, To: fmt.Sprint("program ", n%3), Version: there.Version})
	},
	func(ctx context.Context, o *ops.Ops, n int) error {
		_, err := o.Job("settle").Pause(ctx, ops.PauseRequest{MakeUp: n%2 == 0})
		return err
	},
	func(ctx context.Context, o *ops.Ops, n int) error {
		return o.Job("settle").Resume(ctx, ops.ResumeRequest{})
	},
	func(ctx context.Context, o *ops.Ops, n int) error {
		return o.Job("settle").Pin(ctx, n%2, ops.PinRequest{Label: fmt.Sprint("l", n%3)})
	},
	func(ctx context.Context, o *ops.Ops, n int) error { return o.Job("settle").Unpin(ctx, n%2) },
	func(ctx context.Context, o *ops.Ops, n int) error {
		return o.Job("settle").DisableItems(ctx, 0, n%4, n%3)
	},
	func(ctx context.Context, o *ops.Ops, n int) error { return o.Job("settle").EnableItems(ctx, n%4, n%3) },
	func(ctx context.Context, o *ops.Ops, n int) error {
		return o.Job("settle").DisableServers(ctx, fmt.Sprint("10.0.0.", n%3))
	},
	func(ctx context.Context, o *ops.Ops, n int) error { return o.Job("settle").EnableServers(ctx) },
	func(ctx context.Context, o *ops.Ops, n int) error {
		_, err := o.PutCalendar(ctx, ops.PutCalendarRequest{Name: "c", Document: fmt.Appendf(nil, "timeZone: UTC\ndates: [2027-01-0%d]\n", n%3+1)})
		return err
	},
	func(ctx context.Context, o *ops.Ops, n int) error {
		return o.RemoveCalendar(ctx, ops.RemoveCalendarRequest{Name: "c", Force: n%2 == 0})
	},
}

// lives are what operators do to a whole job.
var lives = []func(ctx context.Context, o *ops.Ops, n int) error{
	func(ctx context.Context, o *ops.Ops, n int) error {
		return o.Job("settle").Remove(ctx, ops.RemoveRequest{})
	},
	func(ctx context.Context, o *ops.Ops, n int) error {
		return o.Create(ctx, ops.CreateRequest{Config: settle(), Implementation: fmt.Sprint("program ", n%3)})
	},
	func(ctx context.Context, o *ops.Ops, n int) error {
		return o.Readmit(ctx, "settle", ops.ReadmitRequest{})
	},
}

// agrees checks that the audit, from the beginning, gives what stands in the tree.
func agrees(ctx context.Context, reg coord.Registry) error {
	list, err := ops.New(reg).Audit(ctx, ops.AuditQuery{})
	if err != nil {
		return err
	}
	slices.Reverse(list)
	versionsRepeat, err := repeats(ctx, reg)
	if err != nil {
		return err
	}
	said, err := replay(list, versionsRepeat)
	if err != nil {
		return err
	}
	is, err := stands(ctx, reg)
	if err != nil {
		return err
	}
	both := maps.Clone(said)
	maps.Copy(both, is)
	for what := range both {
		if said[what] != is[what] {
			err = errors.Join(err, fmt.Errorf("%s: the audit says %q, the tree has %q", what, said[what], is[what]))
		}
	}
	return err
}

// Whatever an operator does between the read and the commit of another one, the audit tells what has
// happened: each change begins with what the one before it has left. (Two may remove something there and
// make it anew: see what is not promised.)
func TestOperatorsTogether(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ctx := t.Context()
		store := memory.NewStore(memory.Options{})
		defer store.Close()
		reg, err := store.Dial(ctx, memory.Config{Namespace: "ops"})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = reg.Close(context.Background()) }() // the store goes, too
		told := 1
		all := append(slices.Clone(deeds), lives...)
		depth, last := 0, 0
		var act func()
		wire := &wired{Registry: reg, answer: func(commit func() (int64, error)) (int64, error) {
			if depth < 2 && rapid.IntRange(0, 2).Draw(t, "meanwhile") == 0 {
				act()
			}
			return commit()
		}}
		o := ops.New(wire).OnChange(func(ops.Change) { told++ })
		act = func() {
			depth++
			defer func() { depth-- }()
			from, to := 0, len(all)-1
			if depth > 1 { // those that concern the same are side by side
				from, to = max(from, last-1), min(to, last+1)
			}
			deed, n := rapid.IntRange(from, to).Draw(t, "deed"), rapid.IntRange(0, 5).Draw(t, "variant")
			last = deed
			if err := all[deed](ctx, o.By(fmt.Sprint("operator ", depth)), n); errors.Is(err, ops.ErrBusy) {
				t.Errorf("deed %d: %v", deed, err)
			}
		}
		if err := lives[1](ctx, ops.New(reg), 0); err != nil {
			t.Fatal(err)
		}
		var plant []coord.Op
		for i := range 4 {
			plant = append(plant, coord.Put(fmt.Sprintf("settle/sharding/%d/fired", i), nil))
		}
		for i := range 3 {
			plant = append(plant, coord.Put(fmt.Sprint("settle/servers/10.0.0.", i), []byte("ENABLED")))
		}
		plant = append(plant, coord.Put("settle/schedule", []byte("cron: "+rarely+"\ntimeZone: Local\nmisfire: true\nsince: 2026-01-01T00:00:00Z\n")))
		if _, err := reg.Commit(ctx, plant...); err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(1, 50).Draw(t, "deeds") {
			act()
		}
		if err := agrees(ctx, reg); err != nil {
			t.Fatal(err)
		}
		if list, err := ops.New(reg).Audit(ctx, ops.AuditQuery{}); err != nil || len(list) != told {
			t.Fatalf("%d changes were told, and %d are in the audit; %v", told, len(list), err)
		}
	})
}

// The same on every store, by operators that act at once while the job runs. Of two that update the same
// version one wins, and the other is told.
func TestOperatorsAtOnce(t *testing.T) {
	onEveryStore(t, func(t *testing.T, d dial) {
		ctx := t.Context()
		seed := rand.Uint64()
		t.Log("seed", seed)
		var regs [4]coord.Registry
		for n := range regs {
			regs[n] = open(t, d)
		}
		cfg := settle()
		cfg.ShardingTotalCount = 4
		if err := ops.New(regs[0]).Create(ctx, ops.CreateRequest{Config: cfg}); err != nil {
			t.Fatal(err)
		}
		for n := range 3 {
			owns(t, runs(t, d, cfg, fmt.Sprint("10.0.0.", n), nothing), []int{4, 2, 1}[n])
		}
		var operators sync.WaitGroup
		for n, reg := range regs {
			operators.Go(func() {
				random := rand.New(rand.NewPCG(seed, uint64(n)))
				o := ops.New(reg).By(fmt.Sprint("operator ", n))
				for range 25 {
					deed := random.IntN(len(deeds))
					if err := deeds[deed](ctx, o, random.IntN(12)); errors.Is(err, ops.ErrBusy) || errors.Is(err, coord.ErrUnavailable) {
						t.Errorf("deed %d: %v", deed, err)
					}
				}
			})
		}
		operators.Wait()
		if err := agrees(ctx, regs[0]); err != nil {
			t.Error(err)
		}

		there, err := ops.New(regs[0]).Job("settle").Settings(ctx)
		if err != nil {
			t.Fatal(err)
		}
		var errs [2]error
		for n := range errs {
			operators.Go(func() {
				next := there.Config
				next.JobParameter = fmt.Sprint("by operator ", n)
				errs[n] = ops.New(regs[n]).Job("settle").Update(ctx, ops.UpdateRequest{Config: next, Version: there.Version})
			})
		}
		operators.Wait()
		winner := slices.Index(errs[:], nil)
		if winner < 0 || !errors.Is(errs[1-winner], ops.ErrConfigChanged) {
			t.Fatalf("updates: %v", errs)
		}
		if after, err := ops.New(regs[2]).Job("settle").Settings(ctx); err != nil || after.Config.JobParameter != fmt.Sprint("by operator ", winner) {
			t.Errorf("operator %d has won: %+v, %v", winner, after.Config, err)
		}
	})
}
