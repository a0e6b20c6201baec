package main

import "fmt"

// results is what the runs write to, with one row for each item. In a database a write
// would be
//
//	UPDATE counts SET files = …, fence = $token WHERE item = $item AND fence <= $token
//
// Each item has a row, and so a fence, of its own: tokens of different items may be equal.
//
// A run may seem dead, be repeated elsewhere, and then go on. The condition keeps it from
// undoing what the later run has written.
type results struct {
	rows    map[int]row
	refused int
}

type row struct {
	result
	fence int64
}

// put writes the row of an item, unless the row has a larger token. It reports whether it did.
func (r *results) put(item int, token int64, value result) bool {
	if r.rows[item].fence > token {
		r.refused++
		return false
	}
	if r.rows == nil {
		r.rows = map[int]row{}
	}
	r.rows[item] = row{value, token}
	return true
}

// differ compares the rows with what one process counted alone.
func (r *results) differ(alone []result) []string {
	var faults []string
	for item, want := range alone {
		got, ok := r.rows[item]
		switch {
		case !ok:
			faults = append(faults, fmt.Sprintf("item %d has no result", item))
		case got.result != want:
			faults = append(faults, fmt.Sprintf("item %d: %v, but %v when counted alone", item, got.result, want))
		}
	}
	return faults
}

func (r result) String() string {
	return fmt.Sprintf("%d files, %d bytes, %d lines, %.12s", r.Files, r.Bytes, r.Lines, r.Sum)
}
