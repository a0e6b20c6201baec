package coord_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/coord"
)

func TestValidateCommit(t *testing.T) {
	puts := func(n int) []coord.Op {
		ops := make([]coord.Op, n)
		for i := range ops {
			ops[i] = coord.Put(fmt.Sprintf("a/%d", i), nil)
		}
		return ops
	}
	for _, tc := range []struct {
		name string
		ops  []coord.Op
		want error
		says string
	}{
		{"condition and write of one path", []coord.Op{coord.AtVersion("a", 1), coord.Set("a", nil)}, nil, ""},
		{"siblings with a common prefix", []coord.Op{coord.DeleteTree("a/1"), coord.Put("a/10", nil)}, nil, ""},
		{"condition within a removed tree", []coord.Op{coord.Exists("a/1/x"), coord.DeleteTree("a/1")}, nil, ""},
		{"the largest", puts(coord.MaxOps), nil, ""},
		{"none", nil, coord.ErrInvalidCommit, "no operations"},
		{"unknown kind", []coord.Op{{Path: "a"}}, coord.ErrInvalidCommit, "unknown kind"},
		{"bad path", []coord.Op{coord.Put("a", nil), coord.Put("a//b", nil)}, coord.ErrInvalidPath, "op 1 (put)"},
		{"written twice", []coord.Op{coord.Put("a", nil), coord.Delete("a")}, coord.ErrInvalidCommit, "same node"},
		{"written below a removed tree", []coord.Op{coord.DeleteTree("a"), coord.Put("a/b", nil)}, coord.ErrInvalidCommit, "removes"},
		{"removed within a removed tree", []coord.Op{coord.Delete("a/b"), coord.DeleteTree("a")}, coord.ErrInvalidCommit, "removes"},
		{"too many", puts(coord.MaxOps + 1), coord.ErrTooLarge, "125"},
		{"too big", []coord.Op{coord.Put("a", make([]byte, coord.MaxCommitBytes))}, coord.ErrTooLarge, "bytes"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := coord.ValidateCommit(tc.ops...)
			if !errors.Is(err, tc.want) || (err != nil && !strings.Contains(err.Error(), tc.says)) {
				t.Fatalf("got %v, want %v with %q", err, tc.want, tc.says)
			}
		})
	}
}

func TestConflictErrorMatchesItsReason(t *testing.T) {
	var err error = &coord.ConflictError{Index: 2, Op: coord.AtVersion("a/b", 7), Reason: coord.ErrVersion}
	err = fmt.Errorf("assign: %w", err)
	if !errors.Is(err, coord.ErrConflict) || !errors.Is(err, coord.ErrVersion) || errors.Is(err, coord.ErrNoNode) {
		t.Error("wrong matches")
	}
	if want := "op 2 (at version a/b = 7)"; !strings.Contains(err.Error(), want) {
		t.Errorf("%q does not name the operation", err)
	}
}
