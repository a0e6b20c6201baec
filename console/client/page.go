package client

import (
	"context"
	"iter"
	"maps"
	"net/url"

	"github.com/elasticjob-go/elasticjob/ops"
)

// page is a part of a list.
type page[T any] struct {
	Rows []T    `json:"rows"`
	Next string `json:"next"`
}

// rows asks for a list that has no pages.
func rows[T any](ctx context.Context, c *Client, a call) ([]T, error) {
	all, err := answer[page[T]](ctx, c, a)
	return all.Rows, err
}

// pages goes over all rows of a list that is asked for in pages.
func pages[T any](ctx context.Context, c *Client, a call) iter.Seq2[T, error] {
	return over(func(after string) ([]T, string, error) {
		a := a
		a.query = maps.Clone(a.query)
		if a.query == nil {
			a.query = url.Values{}
		}
		add(a.query, "after", after)
		p, err := answer[page[T]](ctx, c, a)
		return p.Rows, p.Next, err
	})
}

// over goes over all rows of a list, and asks for a page when it needs it: that after some place, which is empty for the
// first one. An error is the last that comes.
func over[T any](ask func(after string) (rows []T, next string, err error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for after := ""; ; {
			rows, next, err := ask(after)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, row := range rows {
				if !yield(row, nil) {
					return
				}
			}
			if after = next; next == "" {
				return
			}
		}
	}
}

// ListJobs goes over all jobs that are wanted, in the order of p.Sort. JobsPage returns a page, with the totals.
func (n *Namespace) ListJobs(ctx context.Context, p ListJobsParams) iter.Seq2[ops.JobInfo, error] {
	return over(func(after string) ([]ops.JobInfo, string, error) {
		p := p
		p.After = after
		part, err := n.JobsPage(ctx, p)
		return part.Rows, part.Next, err
	})
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
