package jobtree

import (
	"fmt"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/yamldoc"
)

// Bounds of values in bytes.
const (
	maxValue    = 16 << 10  // of most nodes
	maxLong     = 256 << 10 // of audits, and of instances with maxLabels labels
	maxCalendar = 512 << 10
	maxCursor   = 128 << 10
	maxHeld     = 64 << 20 // of all values of a job
)

// maxSize returns how long the value of a node may be to be read. One that a state does not have, or nobody knows, is not read.
func (k *kind) maxSize() int {
	const j = "{job}/"
	if k == nil || k.effect == aside {
		return 0
	}
	switch k.pattern {
	case j + config, j + schedule:
		return yamldoc.MaxSize
	case j + requests + "/{request}", j + guarantee + "/{tick}":
		return maxRequest
	case j + instances + "/{instance}", Audits + "/{change}":
		return maxLong
	case Calendars + "/{calendar}":
		return maxCalendar
	}
	return maxValue
}

// MaxSize returns how long the value at a path in a namespace may be to be read.
func MaxSize(path string) int {
	if k, _, isBelow := namespaceKinds.find(path); !isBelow {
		return k.maxSize()
	}
	return 0
}

// Bounds are those of a view of one job: what is not held could not be decoded either.
func Bounds() coord.Bounds { return coord.Bounds{Value: MaxSize, Group: Group} }

// SharedBounds are those of who reads several jobs, to which others write.
func SharedBounds() coord.Bounds { return coord.Bounds{Value: MaxSize, Child: maxHeld, Group: Group} }

// bound returns a node without a value that is not read. It lists those that are too large: values of unknown nodes and of
// cursors are only for those who have written them. No decoder takes what stands for the value, and no instance has such an id.
func (a *applier) bound(n coord.Node, k *kind, isThere bool) coord.Node {
	size := max(n.Omitted, len(n.Value))
	if size <= coord.AlwaysHeld && a.TooLarge == nil { // nearly all
		return n
	}
	most, usual := k.maxSize(), maxValue
	if k != nil && k.effect == aside {
		usual = maxCursor
	}
	isRead := size <= coord.AlwaysHeld || n.Omitted == 0 && size <= most
	if put(&a.TooLarge, n.Path, size, isThere && !isRead && (size <= most || size > max(most, usual))); !isRead {
		n.Value = fmt.Appendf(nil, "%d bytes, too large to be read", size)
	}
	return n
}
