package client

import (
	"context"
	"iter"
	"maps"
)

// page is a part of a list.
type page[T any] struct {
	Rows []T    `json:"rows"`
	Next string `json:"next"`
}

// rows asks for a list that has no pages.
func rows[T any](ctx context.Context, c *Client, v values, path ...string) ([]T, error) {
	all, err := get[page[T]](ctx, c, v.Values, path...)
	return all.Rows, err
}

// pages goes over all rows of a list, and asks for a page when it needs it. An error is the last that comes.
func pages[T any](ctx context.Context, c *Client, v values, path ...string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		v := values{maps.Clone(v.Values)} // each loop begins anew
		for {
			part, err := get[page[T]](ctx, c, v.Values, path...)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, row := range part.Rows {
				if !yield(row, nil) {
					return
				}
			}
			if part.Next == "" {
				return
			}
			v.Set("after", part.Next)
		}
	}
}

// Collect returns all rows of a list, up to a number of them: 0 is no bound.
//
// Errors: that of the list, with the rows before it.
func Collect[T any](list iter.Seq2[T, error], most int) ([]T, error) {
	var all []T
	for row, err := range list {
		if err != nil {
			return all, err
		}
		if all = append(all, row); len(all) == most {
			break
		}
	}
	return all, nil
}
