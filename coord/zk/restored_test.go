package zk_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/zk"
	"github.com/elasticjob-go/elasticjob/internal/testserver/zkserver"
)

// A store that was put back to an earlier state, or replaced by an empty one, is another
// store: nothing that was known of the old one counts, and every read shows the new one.
func TestStorePutBack(t *testing.T) {
	t.Parallel()
	server := zkserver.Start(t, zkserver.Config{})
	for _, tc := range []struct {
		name     string
		replace  func(*zkserver.Server) error
		overtake bool   // others write before the registry is connected again
		old      string // the value that the store has then
		proven   bool
	}{
		// The empty ones come first: others have soon written more than was written before.
		{name: "an empty one", replace: (*zkserver.Server).Wipe, proven: true},
		{name: "an empty one that others have written since", replace: (*zkserver.Server).Wipe, overtake: true},
		{name: "an earlier state", replace: (*zkserver.Server).PutBack, old: "old", proven: true},
		{name: "an earlier state that others have written since", replace: (*zkserver.Server).PutBack, overtake: true, old: "old", proven: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			link := newLink(t, server)
			r := dial(t, zk.Config{Servers: []string{link.Addr()}, SessionTimeout: 90 * time.Second}) // not lost by slowness
			v, whole := view(t, r, "n"), view(t, r, "")
			commit(t, r, coord.Put("n", []byte("old")), coord.CreateEphemeral("e", nil))
			if err := server.Save(); err != nil {
				t.Fatal(err)
			}
			newest := int64(0)
			for i := range 100 {
				newest = commit(t, r, coord.Put("n", fmt.Append(nil, i)), coord.CreateEphemeral(fmt.Sprintf("e%d", i), nil))
			}
			syncView(t, v)
			s := session(t, r)
			link.Cut()
			if err := server.Kill(); err != nil {
				t.Fatal(err)
			}
			if err := tc.replace(server); err != nil {
				t.Fatal(err)
			}
			if err := server.Restart(t.Context()); err != nil {
				t.Fatal(err)
			}
			if tc.overtake {
				other := dial(t, zk.Config{Servers: []string{server.Addr()}})
				for commit(t, other, coord.Put("others", nil)) < newest+100 && !t.Failed() {
				}
			}
			link.Heal()
			begun := time.Now()
			await(t, s.Context().Done(), "the session to be lost")
			t.Logf("lost after %v: %v", time.Since(begun), context.Cause(s.Context()))
			cause := context.Cause(s.Context())
			wantErr(t, cause, coord.ErrSessionLost)
			if tc.proven {
				wantErr(t, cause, coord.ErrRestored)
			}

			next := session(t, r)
			for _, v := range []coord.View{v, whole} {
				if n, _ := syncView(t, v).Get("n"); string(n.Value) != tc.old {
					t.Errorf("the view has %q, want %q", n.Value, tc.old)
				}
			}
			commit(t, r, coord.Put("n", []byte("new")), coord.CreateEphemeral("f", nil))
			if n, _ := syncView(t, v).Get("n"); string(n.Value) != "new" {
				t.Errorf("the view has %q, want what was committed", n.Value)
			}
			if n, _ := syncView(t, whole).Get("f"); n.Owner != next.ID() {
				t.Errorf("the new session's node: %+v", n)
			}
			if next.Context().Err() != nil || session(t, r).ID() != next.ID() {
				t.Errorf("the new session: %v", context.Cause(next.Context()))
			}
			if err := v.Err(); err != nil {
				t.Error(err)
			}
		})
	}
}
