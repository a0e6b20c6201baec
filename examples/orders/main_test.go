package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/elasticjob-go/elasticjob/job"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// output is what several goroutines say.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

// The program pays every order once, and its story happens.
func TestEveryOrderIsPaidOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "orders.db")
	synctest.Test(t, func(t *testing.T) {
		var out output
		err := run(t.Context(), settings{orders: 1000, page: 10, pace: 20 * time.Millisecond, file: file}, &out)
		text := out.text.String()
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		for _, want := range []string{
			`south freezes in a batch of item \d`,
			`west has ended its batches, and left`,
			`(north|west) goes on with item \d at order \d+, where south was`,
			`south wakes up, and wants to pay these orders, too: share \d: refused`,
			`1000 orders: 1000 are done, 1000 have exactly one payment, there are 1000 payments`,
			`every order was paid exactly once`,
		} {
			if !regexp.MustCompile(want).MatchString(text) {
				t.Errorf("it does not say %s:\n%s", want, text)
			}
		}
	})
}

// A program that is told to end ends in the middle, and leaves no goroutine.
func TestInterrupt(t *testing.T) {
	file := filepath.Join(t.TempDir(), "orders.db")
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := run(ctx, settings{orders: 1000, page: 10, pace: time.Minute, file: file}, io.Discard)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}

func newTables(t *testing.T) *sql.DB {
	t.Helper()
	db, err := create(t.Context(), filepath.Join(t.TempDir(), "orders.db"), 100, items)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// The tables refuse an old execution: by the row of the item, and by that of an order.
func TestOldExecutionIsRefused(t *testing.T) {
	for name, fence := range map[string]string{
		"share":               `UPDATE shares SET fence = 8 WHERE item = 1`,
		"order":               `UPDATE orders SET fence = 8 WHERE id = 5`,
		"order that was paid": `UPDATE orders SET state = 'done' WHERE id = 5`,
	} {
		t.Run(name, func(t *testing.T) {
			db := newTables(t)
			s := shop{db, "south"}
			sc := job.ShardingContext{Item: 1, Total: items, Token: 7}
			orders, last, err := s.fetch(t.Context(), sc, 0, 2)
			if err != nil || len(orders) != 2 || last != 5 {
				t.Fatalf("fetched %v, %d, %v", orders, last, err)
			}
			if _, err := db.ExecContext(t.Context(), fence); err != nil {
				t.Fatal(err)
			}
			if err := s.process(t.Context(), sc, orders); !errors.Is(err, errLost) {
				t.Errorf("got %v", err)
			}
			var payments, cents int // nothing is left of the batch
			err = db.QueryRowContext(t.Context(), `SELECT (SELECT count(*) FROM payments), (SELECT sum(cents) FROM shares)`).Scan(&payments, &cents)
			if err != nil || payments != 0 || cents != 0 {
				t.Errorf("%d payments, %d cents, %v", payments, cents, err)
			}
			if name == "share" {
				sc.Token = 8 // the execution that holds the item
				if err := s.process(t.Context(), sc, orders); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// What was paid twice, or not at all, is found.
func TestCheck(t *testing.T) {
	for _, test := range []struct {
		name, change string
		ok           bool
	}{
		{"as it should be", ``, true},
		{"twice", `INSERT INTO payments SELECT * FROM payments WHERE order_id = 7`, false},
		{"not at all", `DELETE FROM payments WHERE order_id = 7`, false},
		{"one for another", `UPDATE payments SET order_id = 8 WHERE order_id = 7`, false},
		{"too little", `UPDATE payments SET cents = cents - 1 WHERE order_id = 7`, false},
		{"not done", `UPDATE orders SET state = 'new' WHERE id = 7`, false},
		{"lost in a share", `UPDATE shares SET cents = cents - 1 WHERE item = 0`, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			db := newTables(t)
			for item := range items {
				s, sc := shop{db, "north"}, job.ShardingContext{Item: item, Total: items, Token: 7}
				orders, _, err := s.fetch(t.Context(), sc, 0, 1000)
				if err := errors.Join(err, s.process(t.Context(), sc, orders)); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := db.ExecContext(t.Context(), test.change); err != nil {
				t.Fatal(err)
			}
			err := check(t.Context(), db, io.Discard)
			if isPaid := err == nil; isPaid != test.ok {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestSettings(t *testing.T) {
	for _, orders := range []int{0, 99, 1_000_001} {
		if err := run(t.Context(), settings{orders: orders}, io.Discard); err == nil || !strings.Contains(err.Error(), "allowed") {
			t.Errorf("%d orders: %v", orders, err)
		}
	}
	existing := filepath.Join(t.TempDir(), "orders.db")
	for i := range 2 {
		db, err := create(t.Context(), existing, 100, items)
		if i == 0 && err == nil {
			err = db.Close()
		}
		if (err == nil) != (i == 0) {
			t.Errorf("created %d times: %v", i+1, err)
		}
	}
}
