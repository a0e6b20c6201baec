package ops

import (
	"context"
	"fmt"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// PinRequest says where an item belongs. Exactly one of Instance, Address and Label is needed.
type PinRequest struct {
	// Instance is the id of an instance. It has another id in each session, so this holds until
	// its process ends.
	Instance string
	// Address is that of a host, as instances give it with job.WithIP.
	Address string
	// Label is one of those that instances have by job.WithLabels. Each of the three has up to
	// 255 bytes.
	Label string
	// Strict leaves the item without an owner while there is no such instance that may have
	// items; a fault of the job says so. Without it the item is assigned like any other then.
	Strict bool
}

// Pin gives an item to instances of one kind, whatever the strategy says, and also with static
// sharding. If there are several, it stays with one of them. An item that runs moves when its execution has ended. Another Pin
// takes the place of this one; [Job.Unpin] ends it, and nothing else does. A pinned item counts
// for Config.MaxItems, and is not moved for it. Neither a JVM leader
// nor a job with Config.Broadcast goes by pins. It is one commit.
//
// Errors: ErrBroadcast; jobtype.ErrNoItem; those of a read and of a commit; others for a bad request.
func (j *Job) Pin(ctx context.Context, item int, r PinRequest) error {
	named := 0
	for what, name := range map[string]string{"instance": r.Instance, "address": r.Address, "label": r.Label} {
		if len(name) > jobtree.MaxPinName {
			return wrong(what, "job %s: pin: %s: %d bytes, at most %d are allowed", j.name, what, len(name), jobtree.MaxPinName)
		}
		if name != "" {
			named++
		}
	}
	return j.try(ctx, "pin", func(s *jobtree.State) error {
		if named != 1 {
			return wrong("instance", "one of instance, address and label is allowed, and needed")
		}
		if !s.Item(item).Exists {
			return errNoItem(s, item)
		}
		if config, err := jobtype.DecodeConfig(s.Config.Value); err == nil && config.Broadcast {
			return ErrBroadcast
		}
		d := jobtree.PinDocument{Instance: r.Instance, Address: r.Address, Label: r.Label, Strict: r.Strict, By: j.ops.by}
		before, after := pinText(s.Pins[item]), pinText(&jobtree.Pin{PinDocument: d})
		if before == after {
			return nil
		}
		write := coord.Create(j.name.Pin(item), jobtree.EncodePin(d))
		if there := s.Pins[item]; there != nil {
			write = coord.SetAt(there.Path, jobtree.EncodePin(d), there.Version)
		}
		act, err := j.ops.act(j.name, ActionPin)
		if err != nil {
			return err
		}
		_, err = act.says(itemsText([]int{item}), before, after).commit(ctx, coord.Exists(j.name.Config()), write)
		return err
	})
}

// Unpin ends what Pin has said of an item. Without a pin nothing happens. It is one commit.
//
// Errors: those of a read and of a commit.
func (j *Job) Unpin(ctx context.Context, item int) error {
	return j.try(ctx, "unpin", func(s *jobtree.State) error {
		if item < 0 || item >= jobtree.MaxItems {
			return fmt.Errorf("%w: item %d: 0 to %d are allowed", jobtype.ErrNoItem, item, jobtree.MaxItems-1)
		}
		there := s.Pins[item]
		if there == nil {
			return nil
		}
		act, err := j.ops.act(j.name, ActionUnpin)
		if err != nil {
			return err
		}
		_, err = act.says(itemsText([]int{item}), pinText(there), "").commit(ctx, coord.AtVersion(there.Path, there.Version), coord.DeleteTree(there.Path))
		return err
	})
}

// pinText says in a few words where an item belongs; "" if it has no pin.
func pinText(p *jobtree.Pin) string {
	if p == nil {
		return ""
	}
	text := "label " + p.Label
	switch {
	case p.Err != nil:
		return "a document that cannot be read"
	case p.Instance != "":
		text = "instance " + p.Instance
	case p.Address != "":
		text = "address " + p.Address
	}
	if p.Strict {
		text += ", strictly"
	}
	return text
}
