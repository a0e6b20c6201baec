package manual

import (
	"slices"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/exit"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/show"
	"github.com/elasticjob-go/elasticjob/console/docsite"
)

// The command lists pages, prints one or a section of one, and says what there is not; a shell completes both.
func TestDocs(t *testing.T) {
	site, err := docsite.Project()
	if err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) (string, error) {
		var out strings.Builder
		cmd := Command(&out, show.Printer{Out: &out, Format: show.TableFormat}.Print)
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		cmd.SetArgs(args)
		err := cmd.Execute()
		return out.String(), err
	}
	list, err := run()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range site.Pages {
		if !strings.Contains(list, p.Name) || !strings.Contains(list, p.Title) {
			t.Errorf("the list has no %s: %s", p.Name, list)
		}
		if text, err := run(p.Name); err != nil || text != string(p.Markdown) {
			t.Errorf("%s: %v", p.Name, err)
		}
		for i := range p.Headings {
			if text, err := run(p.Name + ".md#" + p.Headings[i].Anchor); err != nil || !strings.HasPrefix(text, "#") {
				t.Errorf("%s#%s: %v %q", p.Name, p.Headings[i].Anchor, err, text)
			}
		}
		first := p.Name + "#" + p.Headings[0].Anchor
		if found, _ := complete(nil, nil, first); !slices.Contains(found, first) {
			t.Errorf("%s is completed to %q", first, found)
		}
	}
	if found, _ := complete(nil, nil, "decisions/R"); !slices.Equal(found, []string{"decisions/README"}) {
		t.Errorf("decisions/R is completed to %q", found)
	}
	if found, _ := complete(nil, []string{"README"}, ""); found != nil {
		t.Errorf("a second argument is completed to %q", found)
	}
	if _, err := run("alerts#x"); err == nil || err.Error() != `"alerts" may be each of these pages: operate/alerts, reference/alerts` || exit.Of(err) != exit.Usage {
		t.Error(err)
	}
	if text, err := run("tutorial"); err != nil || !strings.HasPrefix(text, "# Tutorial") { // not the Chinese one
		t.Errorf("%v %q", err, text)
	}
	for asked, want := range map[string]string{
		"nonsense": `there is no page "nonsense"; elasticjob docs lists them`, "README#nonsense": `page README has no section "nonsense"`,
	} {
		if _, err := run(asked); err == nil || err.Error() != want || exit.Of(err) != exit.NotFound {
			t.Errorf("%s: %v, want %s", asked, err, want)
		}
	}
}
