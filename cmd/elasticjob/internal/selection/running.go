package selection

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/elasticjob-go/elasticjob/ops"
)

// CutShort says how many items of jobs run, and are cut short when the jobs are removed; empty if none does.
func CutShort(ctx context.Context, o *ops.Ops, jobs []ops.JobInfo) string {
	running := 0
	for _, j := range jobs {
		running += j.Running
	}
	if len(jobs) == 1 { // a job that is named was not looked at
		items, _ := o.Job(jobs[0].Name).Items(ctx) // a job that cannot be read may be removed, too
		running = 0
		for _, i := range items {
			if i.Run != nil && !i.Run.Lost {
				running++
			}
		}
	}
	switch running {
	case 0:
		return ""
	case 1:
		return "; 1 item runs, and is cut short"
	}
	return fmt.Sprintf("; %d items run, and are cut short", running)
}

// Disabled says which items of a job are disabled, and what enables them; empty if none is, or if that cannot be told.
func Disabled(ctx context.Context, j *ops.Job) string {
	items, _ := j.Items(ctx) // the servers were enabled, whatever this says
	var disabled []int
	for _, i := range items {
		if i.Disabled {
			disabled = append(disabled, i.Item)
		}
	}
	switch len(disabled) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("item %d is disabled: --items %[1]d enables it", disabled[0])
	}
	return fmt.Sprintf("items %s are disabled: --items %[1]s enables them", Ranges(disabled))
}

// HasNobody reports whether a strict pin leaves an item without an owner, because no instance is there that it names.
func HasNobody(ctx context.Context, j *ops.Job, r ops.PinRequest) bool {
	if !r.Strict {
		return false
	}
	instances, err := j.Instances(ctx)
	return err == nil && !slices.ContainsFunc(instances, func(in ops.InstanceInfo) bool {
		return r.Instance != "" && in.ID == r.Instance || r.Address != "" && in.Server == r.Address || r.Label != "" && slices.Contains(in.Labels, r.Label)
	})
}

// Ranges writes items in a short way: 0,2-4.
func Ranges(list []int) string {
	list = slices.Compact(slices.Sorted(slices.Values(list)))
	var parts []string
	for i := 0; i < len(list); {
		j := i
		for j+1 < len(list) && list[j+1] == list[j]+1 {
			j++
		}
		switch {
		case j == i:
			parts = append(parts, strconv.Itoa(list[i]))
		default:
			parts = append(parts, fmt.Sprintf("%d-%d", list[i], list[j]))
		}
		i = j + 1
	}
	return strings.Join(parts, ",")
}
