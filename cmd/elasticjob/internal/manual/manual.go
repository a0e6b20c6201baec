// Package manual is elasticjob docs: the documentation's pages in the terminal.
package manual

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/exit"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/show"
	"github.com/elasticjob-go/elasticjob/console/docsite"
	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// page is a page in a list.
type page struct {
	Page    string `json:"page"`
	Title   string `json:"title"`
	Summary string `json:"summary,omitempty"`
}

// Command returns the command. It prints lists by a function, and pages as they are.
func Command(out io.Writer, list func(show.Result) error) *cobra.Command {
	return &cobra.Command{
		Use: "docs [PAGE]", Short: "List the pages of the documentation, or print one", Args: cobra.MaximumNArgs(1),
		Long: `List the pages of the documentation, or print one of them, or a section of it, as Markdown. It needs no store.

  elasticjob docs operate/drain                     a page
  elasticjob docs drain                             the same: the end of its path is enough, if no other page has it
  elasticjob docs reference/faults#store            what a fault means, and what to do
  elasticjob docs reference/findings#no-instance    what a finding of the doctor means`,
		ValidArgsFunction: complete,
		RunE: func(_ *cobra.Command, args []string) error {
			site, err := docsite.Project()
			if err != nil {
				return err
			}
			if len(args) == 0 {
				return list(all(site))
			}
			text, err := find(site, args[0])
			if err == nil {
				_, err = out.Write(text)
			}
			return err
		},
	}
}

// all shows all pages.
func all(site *docsite.Site) show.Result {
	var pages []page
	var names []string
	for _, p := range site.Pages {
		pages = append(pages, page{p.Name, p.Title, p.Summary})
		names = append(names, p.Name)
	}
	return show.Result{Value: pages, Names: func() []string { return names }, Table: func() *show.Table {
		t := show.NewTable("PAGE", "TITLE")
		for _, p := range pages {
			t.Row(p.Page, p.Title)
		}
		return t
	}}
}

// find returns a page, or the section of PAGE#ANCHOR.
func find(site *docsite.Site, asked string) ([]byte, error) {
	name, anchor, hasAnchor := strings.Cut(asked, "#")
	pages := site.Find(name)
	if len(pages) == 0 {
		return nil, exit.Errorf(exit.NotFound, "there is no page %s; elasticjob docs lists them", brief.Quote(name))
	}
	if len(pages) > 1 {
		var names []string
		for _, p := range pages {
			names = append(names, p.Name)
		}
		return nil, exit.Errorf(exit.Usage, "%s may be each of these pages: %s", brief.Quote(name), strings.Join(names, ", "))
	}
	p := pages[0]
	if !hasAnchor {
		return p.Markdown, nil
	}
	section, ok := p.Section(anchor)
	if !ok {
		return nil, exit.Errorf(exit.NotFound, "page %s has no section %s", p.Name, brief.Quote(anchor))
	}
	return section, nil
}

// complete completes the names of pages, and of sections behind a #.
func complete(_ *cobra.Command, args []string, begin string) (found []string, _ cobra.ShellCompDirective) {
	site, err := docsite.Project()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	for _, p := range site.Pages {
		names := []string{p.Name}
		if strings.HasPrefix(begin, p.Name+"#") {
			for i := range p.Headings {
				names = append(names, p.Name+"#"+p.Headings[i].Anchor)
			}
		}
		for _, name := range names {
			if strings.HasPrefix(name, begin) {
				found = append(found, name)
			}
		}
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}
