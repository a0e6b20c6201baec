package api

import (
	"encoding/base64"
	"slices"
	"strings"
)

// List is all of something.
type List[T any] struct {
	Rows []T `json:"rows" nullable:"false" doc:"All of them, in the order that the operation says."`
}

// Page is a part of something.
type Page[T any] struct {
	Rows []T    `json:"rows" nullable:"false" doc:"Those of this page, in the order that the operation says."`
	Next string `json:"next,omitempty" doc:"Cursor of the next page: parameter after. Empty if this is the last one."`
}

// InPage is the part of a request that says which page is wanted.
type InPage struct {
	After string `query:"after" maxLength:"2000" doc:"Cursor: next of the page before. Default: the first page."`
	Limit int    `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"How many rows a page has at most."`
}

func listed[T any](rows []T) *answer[List[T]] { return &answer[List[T]]{List[T]{notNil(rows)}} }

func paged[T any](rows []T, next string) *answer[Page[T]] {
	return &answer[Page[T]]{Page[T]{notNil(rows), next}}
}

// notNil returns a list that is [] in JSON if it is empty.
func notNil[T any](rows []T) []T {
	if rows == nil {
		return []T{}
	}
	return rows
}

// cursorTo returns a cursor of a kind to a place. What is in it concerns no client.
func cursorTo(kind, place string) string {
	if place == "" {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString([]byte(kind + " " + place))
}

// place returns where a page begins; empty is the beginning.
func (p *InPage) place(kind string) (string, error) {
	if p.After == "" {
		return "", nil
	}
	text, err := base64.RawURLEncoding.DecodeString(p.After)
	place, ok := strings.CutPrefix(string(text), kind+" ")
	if err != nil || !ok {
		return "", refuse("query.after", "this is not the cursor of such a list")
	}
	return place, nil
}

// pageOf returns a page of a list, whose rows are in the order of their keys.
func pageOf[T any](in *InPage, kind string, key func(T) string, list func() ([]T, error)) (*answer[Page[T]], error) {
	after, err := in.place(kind)
	if err != nil {
		return nil, err
	}
	rows, err := list()
	if err != nil {
		return nil, err
	}
	rows, next := cut(rows, after, in.Limit, key)
	return paged(rows, cursorTo(kind, next)), nil
}

// cut returns the rows of a page, of rows in the order of their keys, and the key after which the next one
// begins; empty if there is none.
func cut[T any](rows []T, after string, limit int, key func(T) string) (page []T, next string) {
	if after != "" {
		begin, isThere := slices.BinarySearchFunc(rows, after, func(row T, after string) int { return strings.Compare(key(row), after) })
		if isThere {
			begin++
		}
		rows = rows[begin:]
	}
	if len(rows) <= limit {
		return rows, ""
	}
	return rows[:limit], key(rows[limit-1])
}
