package browsertest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/browsertest/internal/world"
	"github.com/elasticjob-go/elasticjob/console/client"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
)

// Who comes in the morning sees what has failed in all of his namespaces, and runs all of it again with one button. Who may see
// one of the namespaces sees what has failed there.
func TestFailuresOfAllNamespaces(t *testing.T) {
	t.Parallel()
	const operator, viewer, depot = "failed-fay", "failed-finn", "failed-depot"
	addUser(t, operator, access.Grant{Role: access.Operator, Namespaces: []string{"*"}, Jobs: []string{"failed-*"}})
	addUser(t, viewer, access.Grant{Role: access.Viewer, Namespaces: []string{world.Namespace}, Jobs: []string{"failed-*"}})
	admin := asUser(t, world.Admin)
	shop, _, err := admin.GetNamespaceConnection(t.Context(), world.Namespace)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := admin.PutNamespaceConnection(t.Context(), depot, client.NamespaceConnectionBody{Kind: "etcd", Endpoints: shop.Endpoints, Namespace: depot}, ""); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := admin.RemoveNamespaceConnection(context.Background(), depot, client.Any); err != nil {
			t.Error(err)
		}
	})
	var isWell atomic.Bool
	for namespace, name := range map[string]string{world.Namespace: "failed-bills", depot: "failed-parcels"} {
		node, o := town.Node(t, namespace)
		_, err := node.Schedule(t.Context(), job.Config{Name: name, ShardingTotalCount: 2}, job.HandlerFunc(func(context.Context, job.ShardingContext) error {
			if isWell.Load() {
				return nil
			}
			return errors.New("the bank is closed\nand so on")
		}))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			ctx := context.Background()
			if err := errors.Join(node.Shutdown(ctx), o.Job(name).Remove(ctx, ops.RemoveRequest{}), o.Readmit(ctx, name, ops.ReadmitRequest{})); err != nil {
				t.Error(err)
			}
		})
		r, err := o.Job(name).Trigger(t.Context(), jobtype.TriggerRequest{})
		if err == nil {
			_, err = r.Wait(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	const row = `[...document.querySelectorAll("#page tbody tr")].find(tr => tr.innerText.includes(%q))`
	shows := func(what, text string) string {
		return fmt.Sprintf(`(%s)?.innerText.includes(%q)`, fmt.Sprintf(row, what), text)
	}

	one := enter(t, viewer, "/failed")
	one.WaitFor(shows("failed-bills", "2 still fail"))
	one.NotSee("failed-parcels")
	one.NotSee("Retry")

	tab := enter(t, operator, "/about")
	tab.Click("link", "Failures")
	tab.WaitFor(shows("failed-bills", "2 still fail"))
	tab.WaitFor(shows("failed-parcels", "2 still fail"))
	tab.See(depot + " has no history")
	tab.WaitFor(shows("failed-bills", "the bank is closed"))
	tab.Click("button", "Failures of failed-bills")
	tab.WaitFor(fmt.Sprintf(`(%s).querySelector("a[href*='/history/']")`, fmt.Sprintf(row, "item 1")))
	audit(t, tab, "failures")

	isWell.Store(true)
	tab.Click("button", "Retry all (4)")
	tab.See("4 items of 2 jobs in 2 namespaces would run again:")
	audit(t, tab, "the review of a retry")
	tab.Click("button", "Retry")
	tab.See("4 items of 2 jobs in 2 namespaces run again.")
	tab.WaitFor(shows("failed-bills", "succeeded since") + " && !" + shows("failed-bills", "still fail"))
	tab.NotSee("failed-parcels · ")
	tab.WaitFor(fmt.Sprintf("!(%s)", fmt.Sprintf(row, "failed-parcels")))
}
