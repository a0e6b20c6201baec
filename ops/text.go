package ops

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// itemsText names items that are ascending, such as "items 0-3, 7"; none means all.
func itemsText(items []int) string {
	switch len(items) {
	case 0:
		return "all items"
	case 1:
		return "item " + strconv.Itoa(items[0])
	}
	var b strings.Builder
	b.WriteString("items ")
	for n := 0; n < len(items); {
		last := n
		for last+1 < len(items) && items[last+1] == items[last]+1 {
			last++
		}
		if n > 0 {
			b.WriteString(", ")
		}
		fmt.Fprint(&b, items[n])
		if last > n {
			fmt.Fprint(&b, "-", items[last])
		}
		n = last + 1
	}
	return b.String()
}

// requestText says what a request is for.
func requestText(d jobtree.RequestDocument) string {
	text := itemsText(d.Items)
	if n := len(d.Ticks); n == 1 {
		text += " for the tick " + d.Ticks[0].UTC().Format("2006-01-02T15:04:05.999Z")
	} else if n > 1 {
		text += fmt.Sprintf(" for %d ticks from %s to %s", n, d.Ticks[0].UTC().Format("2006-01-02T15:04:05.999Z"), d.Ticks[n-1].UTC().Format("2006-01-02T15:04:05.999Z"))
	}
	return text
}

// text says what a kill ends.
func (k *kill) text() string {
	var items []int
	for _, part := range k.parts {
		for _, killed := range part.killed {
			items = append(items, killed.Item)
		}
	}
	return itemsText(items)
}
