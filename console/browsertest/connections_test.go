package browsertest

import (
	"context"
	"errors"
	"testing"

	"github.com/elasticjob-go/elasticjob/console/browsertest/internal/world"
	"github.com/elasticjob-go/elasticjob/console/client"
)

// A database is added, tried, changed and removed; nobody is told its password.
func TestDatabaseConnection(t *testing.T) {
	t.Parallel()
	const name, secret = "connections-past", "a secret of 1000 weeks"
	tab := enter(t, world.Admin, "/connections")
	admin := asUser(t, world.Admin)
	t.Cleanup(func() {
		if err := admin.RemoveDatabaseConnection(context.Background(), name, client.Any); err != nil && !errors.Is(err, client.ErrNoDatabase) {
			t.Error(err)
		}
	})
	tab.Click("button", "Add a database")
	tab.Fill("Name", name)
	tab.Choose("Kind", "PostgreSQL")
	tab.Fill("Address", "127.0.0.1:1")
	tab.Fill("Database in the server", "jobs")
	tab.Fill("User", "console")
	tab.Fill("Password", secret)
	tab.Click("button", "Test")
	tab.See("the tests have no postgres") // what the world says of all databases but its own
	tab.Click("button", "Save")
	tab.See("Add a database done.")
	got, _, err := admin.GetDatabaseConnection(t.Context(), name)
	if err != nil || got.Database != "jobs" || got.User != "console" || got.Password != "***" {
		t.Errorf("saved is %+v, %v", got, err)
	}

	tab.Click("button", "Actions: "+name)
	tab.Click("button", "Edit")
	tab.Fill("Database in the server", "history")
	tab.WaitFor("![...document.querySelectorAll('input')].some(i => i.value.includes('1000 weeks'))")
	tab.Click("button", "Save")
	tab.See("Connection " + name + " done.")
	if got, _, err = admin.GetDatabaseConnection(t.Context(), name); err != nil || got.Database != "history" || got.Password != "***" {
		t.Errorf("saved is %+v, %v", got, err)
	}

	tab.Click("button", "Actions: "+name)
	tab.Click("button", "Remove")
	tab.See("What is in it stays.")
	tab.Click("button", "Remove")
	tab.See("Remove connection " + name + " done.")
	if _, _, err := admin.GetDatabaseConnection(t.Context(), name); !errors.Is(err, client.ErrNoDatabase) {
		t.Errorf("after the removal: %v", err)
	}
}
