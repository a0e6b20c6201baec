package browsertest

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/console/browsertest/internal/browser"
	"github.com/elasticjob-go/elasticjob/console/browsertest/internal/world"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
)

// creating shows the form for a new job to a user; the job is removed at the end.
func creating(t *testing.T, user, query, name string) (*browser.Tab, *ops.Job) {
	t.Helper()
	browser.Require(t)
	j := town.Ops(t).Job(name)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if _, err := j.Describe(ctx); errors.Is(err, ops.ErrNoJob) {
			return
		}
		if err := j.Remove(ctx, ops.RemoveRequest{}); err != nil {
			t.Error(err)
		}
	})
	tab := enter(t, user, "/namespaces/"+world.Namespace+"/create"+query)
	tab.See("What runs")
	return tab, j
}

// A shell script is written into the form, and what was created runs, with the parameter of each item.
func TestCreateScript(t *testing.T) {
	t.Parallel()
	const name = "create-script"
	tab, j := creating(t, world.Admin, "", name)
	tab.Fill("Name", name)
	tab.Fill("Description", "Sweeps the yard")
	tab.Fill("Command", `test "$ELASTICJOB_ITEM_PARAMETER" = south`)
	tab.Choose("Runs", "only when triggered")
	tab.NotSee("at 03:00 every day") // what stands below moves up
	tab.Click("button", "Add an item")
	tab.Fill("Parameter of item 0", "north, far")
	tab.Fill("Parameter of item 1", "south")
	tab.WaitFor("document.querySelector('.draft pre')?.innerText.includes('south')")
	if _, err := j.Describe(t.Context()); !errors.Is(err, ops.ErrNoJob) {
		t.Errorf("a look at the document has created it (%v)", err)
	}
	refuses(t, tab, "Create the job")
	tab.Click("button", "Create the job")
	tab.WaitFor("location.pathname.endsWith('/jobs/" + name + "')")

	c, _ := configOf(t, j)
	if c.Cron != "" || c.ShardingTotalCount != 2 || c.ShardingItemParameters != `0=north\, far,1=south` || c.Description != "Sweeps the yard" {
		t.Errorf("created was %+v", c)
	}
	if _, err := j.Trigger(t.Context(), job.TriggerRequest{}); err != nil {
		t.Fatal(err)
	}
	jobComes(t, j, "item 1 succeeds, and item 0 fails", func(d *ops.JobDetail) bool {
		return d.Items[0].Last != nil && d.Items[0].Last.Outcome == "FAILED" && d.Items[1].Last != nil && d.Items[1].Last.Outcome == "OK"
	})
}

// What is wrong stands at its field, and nothing is created until all is right.
func TestCreateRefused(t *testing.T) {
	t.Parallel()
	const name = "create-request"
	tab, j := creating(t, world.Admin, "", name)
	tab.Click("radio", "HTTP request A request to a service, for each sharding item.")
	tab.Click("button", "Create the job")
	tab.See("2 fields are wrong or missing.")
	tab.WaitFor("document.activeElement.id === 'name'")
	tab.Fill("Name", world.Quick)
	tab.Fill("URL", "http://127.0.0.1:9/${shardingItem}")
	tab.See("There is such a job already.")
	tab.Fill("Name", "no blanks")
	tab.See("ASCII letters, digits")
	tab.Fill("Name", name)
	tab.NotSee("ASCII letters, digits")
	tab.Expect("POST /api/v1/namespaces/" + world.Namespace + "/jobs/" + name + "/plan: 422")
	tab.Fill("Retries", "-3")
	tab.WaitFor("document.querySelector('[aria-invalid=true]')?.id.includes('retry')")
	tab.Click("button", "Create the job")
	tab.See("1 field is wrong or missing.")
	if _, err := j.Describe(t.Context()); !errors.Is(err, ops.ErrNoJob) {
		t.Errorf("it was created all the same (%v)", err)
	}
	tab.Fill("Retries", "3")
	tab.Choose("Method", "POST")
	tab.Fill("Body", `{"city": ${json:shardingParameter}}`)
	tab.Fill("Headers", "Accept: text/plain\nX-From: console")
	tab.NotSee("wrong or missing")
	tab.Click("button", "Create the job")
	tab.WaitFor("location.pathname.endsWith('/jobs/" + name + "')")
	c, _ := configOf(t, j)
	for key, want := range map[string]string{"http.method": "POST", "http.uri": "http://127.0.0.1:9/${shardingItem}", "http.header.X-From": "console", "http.header.Accept": "text/plain"} {
		if c.Props[key] != want {
			t.Errorf("%s is %q, want %q", key, c.Props[key], want)
		}
	}
}

// A copy has the settings of the job, also those that the form has no field for.
func TestCreateCopy(t *testing.T) {
	t.Parallel()
	browser.Require(t)
	town.Job(t, world.Count, job.Config{
		Name: "create-model", Cron: "0 0 5 * * ?", ShardingTotalCount: 2, ShardingItemParameters: "0=a,1=b", Failover: true, TimeZone: "Asia/Shanghai",
		Props: map[string]string{"colour": "green", "api.password": "secret"},
	})
	tab, j := creating(t, world.Admin, "?from=create-model", "create-model-copy")
	tab.See("Secrets are not copied.")
	tab.Click("button", "Create the job")
	tab.WaitFor("location.pathname.endsWith('/jobs/create-model-copy')")
	c, _ := configOf(t, j)
	if c.Cron != "0 0 5 * * ?" || c.ShardingItemParameters != "0=a,1=b" || !c.Failover || c.TimeZone != "Asia/Shanghai" || c.Props["colour"] != "green" || c.Props["api.password"] != "" {
		t.Errorf("the copy is %+v", c)
	}
	jobComes(t, j, "the workers have it, by the same implementation", func(d *ops.JobDetail) bool { return d.Info.Instances > 0 })
}

// Several lines that are put in at once are one parameter each.
func TestCreatePaste(t *testing.T) {
	t.Parallel()
	tab, _ := creating(t, world.Admin, "", "create-paste")
	tab.Fill("Name", "create-paste")
	tab.Fill("Command", "true")
	tab.WaitFor(`document.querySelector("[aria-label='Parameter of item 0']")`)
	tab.WaitFor(`(() => {
		const data = new DataTransfer();
		data.setData("text/plain", "Berlin\n上海\nLima=1\n");
		document.querySelector("[aria-label='Parameter of item 0']").dispatchEvent(new ClipboardEvent("paste", {clipboardData: data, bubbles: true, cancelable: true}));
		return true;
	})()`)
	tab.WaitFor(`document.querySelector("[aria-label='Parameter of item 2']")?.value === "Lima=1"`)
	tab.WaitFor(`document.querySelector('.draft pre')?.innerText.includes('0=Berlin,1=上海,2=Lima\\=1')`)
	audit(t, tab, "the form")
}

// The form writes and reads parameters of items as jobs do, whatever stands in them.
func TestCreateParameters(t *testing.T) {
	t.Parallel()
	tab, _ := creating(t, world.Admin, "", "create-parameters")
	random := rand.New(rand.NewPCG(1, 2))
	const letters = `ab,,==\\\ 上`
	all := []rune(letters)
	lists := make([][]string, 300)
	for i := range lists {
		for range 1 + random.IntN(4) {
			var text strings.Builder
			for range random.IntN(7) {
				text.WriteRune(all[random.IntN(len(all))])
			}
			lists[i] = append(lists[i], strings.TrimSpace(text.String()))
		}
	}
	given, err := json.Marshal(lists)
	if err != nil {
		t.Fatal(err)
	}
	var got []struct {
		Text string
		Back []string
	}
	tab.Eval(`import(document.querySelector("script[type=module]").src.replace("pages/create.js", "create-model.js")).then(m => `+string(given)+`.map(list => {
		const text = m.parametersText(list);
		return {Text: text, Back: m.parametersOf(text)};
	}))`, &got)
	for i, list := range lists {
		want := map[int]string{}
		for item, parameter := range list {
			if parameter != "" {
				want[item] = parameter
			}
		}
		if text := jobtype.FormatItemParameters(want); got[i].Text != text {
			t.Errorf("%q is written %q, want %q", list, got[i].Text, text)
		}
		for item, parameter := range list {
			if back := append(got[i].Back, make([]string, len(list))...)[item]; back != parameter {
				t.Errorf("%q is read as %q", got[i].Text, got[i].Back)
				break
			}
		}
	}
}
