package api_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/elasticjob-go/elasticjob/console/internal/api/apitest"
	"github.com/elasticjob-go/elasticjob/ops"
)

// seen says for requests of changes, by their paths, what the registry has afterwards. Others leave only what
// the instances obey at once.
var seen = map[string]func(context.Context, *apitest.World) (got, want string, err error){
	"PATCH " + orders + "/jobs/late/settings": func(ctx context.Context, w *apitest.World) (string, string, error) {
		s, err := w.Ops.Job("late").Settings(ctx)
		return s.Config.Description + string(s.Config.Overlap), "comes lateSKIP", err
	},
	"PUT " + orders + "/jobs/fresh/settings": func(ctx context.Context, w *apitest.World) (string, string, error) {
		s, err := w.Ops.Job("fresh").Settings(ctx)
		return strings.Join([]string{s.Implementation, fmt.Sprint(s.Config.ShardingTotalCount)}, " "), "fresh 2", err
	},
	"POST " + orders + "/jobs/late/implement": func(ctx context.Context, w *apitest.World) (string, string, error) {
		s, err := w.Ops.Job("late").Settings(ctx)
		return s.Implementation, "com.example.Later", err
	},
	"POST " + settleJob + "/pause": func(ctx context.Context, w *apitest.World) (string, string, error) {
		i, err := w.Ops.Job("settle").Info(ctx)
		return fmt.Sprint(i.Paused.By, ": ", i.Paused.Why, i.Paused.MakeUp), "berta: the bank movestrue", err
	},
	"POST " + orders + "/jobs/pay-out/resume": func(ctx context.Context, w *apitest.World) (string, string, error) {
		i, err := w.Ops.Job("pay-out").Info(ctx)
		return i.Paused.Why, "", err
	},
	"POST " + settleJob + "/items/disable":   disabledItems("[0 1]"),
	"POST " + settleJob + "/items/2/disable": disabledItems("[0 1 2]"),
	"POST " + settleJob + "/items/enable":    disabledItems("[1]"),
	"POST " + settleJob + "/items/1/enable":  disabledItems("[]"),
	"PUT " + settleJob + "/items/0/pin": func(ctx context.Context, w *apitest.World) (string, string, error) {
		items, err := w.Ops.Job("settle").Items(ctx)
		if err != nil || items[0].Pin == nil {
			return "no pin", "10.0.0.1", err
		}
		return items[0].Pin.Address, "10.0.0.1", nil
	},
	"PUT " + orders + "/calendars/holidays": func(ctx context.Context, w *apitest.World) (string, string, error) {
		c, err := w.Ops.Calendar(ctx, "holidays")
		if err != nil {
			return "", "", err
		}
		return string(c.Document), "timeZone: UTC\ndates: [2028-01-01]\n", nil
	},
	"DELETE " + orders + "/calendars/more": func(ctx context.Context, w *apitest.World) (string, string, error) {
		_, err := w.Ops.Calendar(ctx, "more")
		return fmt.Sprint(errors.Is(err, ops.ErrNoCalendar)), "true", nil
	},
	"POST " + orders + "/servers/10.0.0.1/disable": disabledServers("settle", "[10.0.0.1]"),
	"POST " + orders + "/servers/10.0.0.1/enable":  disabledServers("settle", "[]"),
	"POST " + orders + "/jobs:batch":               disabledServers("pay-out", "[10.0.0.2]"),
	"DELETE " + orders + "/jobs/late?why=nobody+needs+it": func(ctx context.Context, w *apitest.World) (string, string, error) {
		return removed(ctx, w, "late", "berta: nobody needs it")
	},
	"POST " + orders + "/jobs/old/readmit": func(ctx context.Context, w *apitest.World) (string, string, error) {
		return removed(ctx, w, "old", "")
	},
}

func disabledItems(want string) func(context.Context, *apitest.World) (string, string, error) {
	return func(ctx context.Context, w *apitest.World) (string, string, error) {
		items, err := w.Ops.Job("settle").Items(ctx)
		list := []int{}
		for _, i := range items {
			if i.Disabled {
				list = append(list, i.Item)
			}
		}
		return fmt.Sprint(list), want, err
	}
}

func disabledServers(job, want string) func(context.Context, *apitest.World) (string, string, error) {
	return func(ctx context.Context, w *apitest.World) (string, string, error) {
		servers, err := w.Ops.Job(job).Servers(ctx)
		list := []string{}
		for _, s := range servers {
			if !s.Enabled {
				list = append(list, s.Server)
			}
		}
		return fmt.Sprint(list), want, err
	}
}

func removed(ctx context.Context, w *apitest.World, job, want string) (string, string, error) {
	list, err := w.Ops.Removed(ctx)
	for _, r := range list {
		if r.Name == job {
			return r.By + ": " + r.Why, want, err
		}
	}
	return "", want, err
}
