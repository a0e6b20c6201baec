package ops_test

import (
	"testing"

	"github.com/elasticjob-go/elasticjob/ops"
)

// Remove notes the revision of the configuration that it removes, also if that is replaced between
// its read and its commit.
func TestRemovalIsOvertaken(t *testing.T) {
	virtual(t, func(t *testing.T, d dial) {
		others := ops.New(open(t, d))
		if err := others.Create(t.Context(), ops.CreateRequest{Config: settle()}); err != nil {
			t.Fatal(err)
		}
		replaced := false
		reg := &wired{Registry: open(t, d), answer: func(commit func() (int64, error)) (int64, error) {
			if !replaced {
				replaced = true
				there, err := others.Job("settle").Settings(t.Context())
				if err != nil {
					t.Error(err)
				}
				there.Config.Revision = 5
				if err := others.Job("settle").Update(t.Context(), ops.UpdateRequest{Config: there.Config, Version: there.Version}); err != nil {
					t.Error(err)
				}
			}
			return commit()
		}}
		if err := ops.New(reg).Job("settle").Remove(t.Context(), ops.RemoveRequest{}); err != nil {
			t.Fatal(err)
		}
		if list, err := others.Removed(t.Context()); err != nil || len(list) != 1 || list[0].Revision != 5 {
			t.Errorf("%v: %+v", err, list)
		}
	})
}
