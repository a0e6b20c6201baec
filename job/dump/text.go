package dump

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// WriteText writes a dump as ElasticJob does: a line for each node but the job's own, with a slash
// before its path,
//
//	path | value
//	path | value | path in the view | value in the view
//
// the longer one for a difference, where what a side does not have is empty. Values stand as they are: that of config
// has many lines.
// What ElasticJob does not have, that the dump is cut or the registry could not be read, is a last
// line that begins with "# ".
func (d Dump) WriteText(w io.Writer) error {
	to := bufio.NewWriter(w) // keeps the first error
	for _, n := range d.Nodes {
		switch {
		case n.Path == d.Job:
			continue
		case n.Difference == "":
			line(to, "/"+n.Path, n.Value)
		case n.Difference == OnlyInView:
			line(to, "", "", "/"+n.Path, n.View)
		case n.Difference == OnlyInStore:
			line(to, "/"+n.Path, n.Value, "", "")
		default:
			line(to, "/"+n.Path, n.Value, "/"+n.Path, n.View)
		}
	}
	if d.Cut {
		line(to, "# cut: there are more nodes")
	}
	if d.StoreError != "" {
		line(to, "# the view alone, because the registry cannot be read: "+d.StoreError)
	}
	if err := to.Flush(); err != nil {
		return fmt.Errorf("dump: job %s: %w", d.Job, err)
	}
	return nil
}

func line(w *bufio.Writer, columns ...string) {
	_, _ = w.WriteString(strings.Join(columns, " | ") + "\n") // Flush returns its error
}

// descending orders paths: parents before their children, and children in descending order.
func descending(a, b string) int {
	for i := range min(len(a), len(b)) {
		switch {
		case a[i] == b[i]:
		case a[i] == '/': // its name is shorter
			return 1
		case b[i] == '/':
			return -1
		default:
			return int(b[i]) - int(a[i])
		}
	}
	switch {
	case len(a) < len(b) && b[len(a)] == '/', len(a) > len(b) && a[len(b)] != '/':
		return -1
	case len(a) == len(b):
		return 0
	}
	return 1
}
