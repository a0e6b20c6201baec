package ops

import (
	"context"
	"fmt"
)

// Note writes an entry of the audit about what a program has changed in the store by other means
// than this package, such as access lists. It comes after the change, so a program that ends in
// between leaves none. In a dry run it only tells OnChange.
//
// Errors: those of a commit.
func (o *Ops) Note(ctx context.Context, action Action, detail, before, after string) error {
	act, err := o.act("", action)
	if err == nil {
		_, err = act.says(detail, before, after).commit(ctx)
	}
	if err != nil {
		return fmt.Errorf("%s: note in the audit: %w", action, err)
	}
	return nil
}
