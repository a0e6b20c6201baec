package email_test

import (
	"bytes"
	"context"
	"errors"
	"net/mail"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/alert/email"
)

// A job that fails sends mail: one at once, one for what waits when it is shut down.
func TestScheduler(t *testing.T) {
	office := newPostOffice(t, implicitTLS)
	office.login = true
	reg, err := memory.NewStore(memory.Options{}).Dial(t.Context(), memory.Config{Namespace: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer reg.Close(context.Background())
	c := job.Config{
		Name: "settle", Cron: "* * * * * ?", ShardingTotalCount: 1, ErrorHandler: "IGNORE,EMAIL",
		Props: office.props("email.username", "jobs", "email.password", "${env:PASSWORD}", "alert.window", "24h"),
	}
	ran := make(chan bool, 1000)
	s, err := job.Schedule(t.Context(), reg, c, job.HandlerFunc(func(context.Context, job.ShardingContext) error {
		ran <- true
		return errors.New("disk full")
	}), job.WithErrorHandler(email.Name, email.Type(office.options())))
	if err != nil {
		t.Fatal(err)
	}
	read := func(l letter) map[string]string {
		m, err := mail.ReadMessage(bytes.NewReader(l.data))
		if err != nil {
			t.Fatal(err)
		}
		return parts(t, m)
	}
	if plain := read(<-office.mails)["text/plain"]; !strings.HasPrefix(plain, "Job 'settle' failed: item 0\n") || !strings.HasSuffix(plain, "\nError: disk full") {
		t.Errorf("got %s", plain)
	}
	for len(ran) > 0 {
		<-ran
	}
	<-ran // this run fails, and Shutdown waits for it
	if len(office.mails) > 0 {
		t.Error("a mail was sent within the window")
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if plain := read(<-office.mails)["text/plain"]; !strings.HasPrefix(plain, "Job 'settle' failed") {
		t.Errorf("got %s", plain)
	}
}
