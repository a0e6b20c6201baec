package command

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/exit"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/show"
	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/ops"
)

// treeNode is a node for programs.
type treeNode struct {
	Path string `json:"path"`
	// Meaning is what it is for; empty if nobody knows.
	Meaning   string  `json:"meaning,omitempty"`
	Value     *string `json:"value,omitempty"` // with --values
	Ephemeral bool    `json:"ephemeral,omitempty"`
	Version   int64   `json:"version"`
	Created   int64   `json:"created"`
	Modified  int64   `json:"modified"`
}

// tree is a part of a namespace for programs.
type tree struct {
	Nodes []treeNode `json:"nodes"`
	// More is whether there are nodes that are not shown, because of --limit.
	More bool `json:"more,omitempty"`
}

// branch says which nodes are shown.
type branch struct {
	root         string // "" is the namespace
	depth, limit int
	values       bool
}

func (c *cli) treeCommand() *cobra.Command {
	var b branch
	cmd := &cobra.Command{
		Use: "tree [JOB]", Short: "Show the nodes in the store, and what they are for",
		Long: `Show the nodes in the store, of a job or of the namespace, and what they are for. Nodes without a meaning are junk,
or those of a newer version. The root may be any path, such as ~elasticjob/audit.`,
		Args: cobra.MaximumNArgs(1), ValidArgsFunction: one(c.jobNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			if b.limit < 1 || b.depth < 0 {
				return exit.Errorf(exit.Usage, "--limit %d, --depth %d: allowed are --limit from 1 and --depth from 0", b.limit, b.depth)
			}
			if len(args) == 1 {
				b.root = args[0]
				if err := coord.ValidatePath(b.root); err != nil {
					return exit.With(exit.Usage, err)
				}
			}
			return c.ask(cmd, func(ctx context.Context, s *store) error { return c.tree(ctx, s, b) })
		},
	}
	cmd.Flags().IntVar(&b.depth, "depth", 0, "how many levels; default: all")
	cmd.Flags().IntVar(&b.limit, "limit", 10_000, "how many nodes at most")
	cmd.Flags().BoolVar(&b.values, "values", false, "show values, too")
	return cmd
}

func (c *cli) tree(ctx context.Context, s *store, b branch) error {
	nodes, more, err := b.read(ctx, s.reg)
	if err != nil {
		return err
	}
	if len(nodes) == 0 && b.root != "" {
		s.asked = b.root // it may be a slip of a job's name
		return fmt.Errorf("%s: %w", b.root, ops.ErrNoJob)
	}
	result := tree{Nodes: make([]treeNode, len(nodes)), More: more}
	for i, n := range nodes {
		t := treeNode{Path: n.Path, Ephemeral: n.Ephemeral(), Version: n.Version, Created: n.Created, Modified: n.Modified}
		t.Meaning, _ = jobtree.Meaning(n.Path) // a node of strangers has none
		if b.values {
			value := string(n.Value)
			t.Value = &value
		}
		result.Nodes[i] = t
	}
	if err := c.print(show.Result{Value: result, Names: func() []string {
		return namesOf(result.Nodes, func(n treeNode) string { return n.Path })
	}, Table: func() *show.Table { return b.table(result.Nodes) }}); err != nil || !more {
		return err
	}
	return c.printer().Say("There are more nodes: see --limit and --depth.")
}

// read reads the nodes, in the order of a tree, and adds parents that nobody wrote.
func (b branch) read(ctx context.Context, reg coord.Registry) (nodes []coord.Node, more bool, err error) {
	seen := map[string]bool{}
	for n, err := range reg.Walk(ctx, b.root) {
		if err != nil {
			return nil, false, err
		}
		parts := strings.Split(n.Path, "/")
		for i := range parts {
			path := strings.Join(parts[:i+1], "/")
			if seen[path] || len(path) < len(b.root) || b.depth > 0 && b.level(path) > b.depth {
				continue
			}
			if len(nodes) == b.limit {
				more = true
				break
			}
			seen[path] = true
			if path == n.Path {
				nodes = append(nodes, n)
			} else {
				nodes = append(nodes, coord.Node{Path: path})
			}
		}
		if more {
			break
		}
	}
	slices.SortFunc(nodes, func(a, b coord.Node) int {
		return slices.Compare(strings.Split(a.Path, "/"), strings.Split(b.Path, "/"))
	})
	return nodes, more, nil
}

// level is how deep a path lies below the root; children have 1.
func (b branch) level(path string) int {
	if b.root == "" {
		return strings.Count(path, "/") + 1
	}
	return strings.Count(path, "/") - strings.Count(b.root, "/")
}

// maxShownValue bounds a value in a table, in bytes.
const maxShownValue = 200

func (b branch) table(nodes []treeNode) *show.Table {
	header := []string{"NODE", "MEANING", "(VERSION)", "(EPHEMERAL)"}
	if b.values {
		header = append(header, "VALUE")
	}
	t := show.NewTable(header...)
	t.Empty = "The namespace is empty."
	least := 0
	if b.root == "" {
		least = 1
	}
	for _, n := range nodes {
		name := coord.Base(n.Path)
		if n.Path == b.root {
			name = b.root
		}
		meaning := n.Meaning
		if meaning == "" {
			meaning = "unknown"
		}
		row := []any{strings.Repeat("  ", b.level(n.Path)-least) + name, meaning, n.Version, n.Ephemeral}
		if b.values {
			row = append(row, brief.Cut(strings.TrimSpace(*n.Value), maxShownValue))
		}
		t.Row(row...)
	}
	return t
}
