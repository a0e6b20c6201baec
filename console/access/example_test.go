package access_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"

	"github.com/elasticjob-go/elasticjob/console/access"
)

// Ben steers the jobs pay-… of the namespaces prod…, and nothing else.
func ExampleOpen() {
	folder, err := os.MkdirTemp("", "access-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	ctx, here := context.Background(), netip.MustParseAddr("127.0.0.1")
	file := access.File(filepath.Join(folder, "console-users.yaml"))
	err = file.Change(ctx, func(u *access.Users) error { // elasticjob console user add ben --grant operator:prod*:pay-*
		return u.Add("ben", "correct horse battery", []access.Grant{{Role: access.Operator, Namespaces: []string{"prod*"}, Jobs: []string{"pay-*"}}})
	})
	if err != nil {
		log.Fatal(err)
	}
	who, err := access.Open(access.Options{File: file})
	if err != nil {
		log.Fatal(err)
	}
	defer who.Close()

	session, err := who.Login(ctx, "ben", "correct horse battery", here)
	if err != nil {
		log.Fatal(err)
	}
	request := httptest.NewRequest(http.MethodGet, "/", nil)
	request.Header.Set(access.TokenHeader, session.Value()) // or the cookie of Control.Cookie
	ben, err := who.Authenticate(request)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ben.Name, ben.May(access.Operator, "prod-eu", "pay-cards"), ben.May(access.Admin, "prod-eu", "pay-cards"))
	_, err = who.Login(ctx, "ben", "wrong", here)
	fmt.Println(errors.Is(err, access.ErrRefused))
	// Output:
	// ben true false
	// true
}

// A grant as the command takes it.
func ExampleParseGrant() {
	grant, err := access.ParseGrant("admin:*:report,bill-*")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(grant.Role, len(grant.Namespaces), grant.Jobs)
	// Output: admin 0 [report bill-*]
}
