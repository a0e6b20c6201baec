package email_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"strconv"

	"github.com/emersion/go-smtp"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/alert"
	"github.com/elasticjob-go/elasticjob/job/alert/email"
)

// A job that fails sends a mail, here to a server on this machine that takes clear text.
func ExampleType() {
	office := &postOffice{mails: make(chan letter, 100)}
	server := smtp.NewServer(office)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()

	ctx := context.Background()
	reg, err := memory.NewStore(memory.Options{}).Dial(ctx, memory.Config{Namespace: "billing"})
	if err != nil {
		log.Fatal(err)
	}
	s, err := job.Schedule(ctx, reg, job.Config{
		Name: "settle", Cron: "* * * * * ?", ShardingTotalCount: 1,
		ErrorHandler: "IGNORE,EMAIL", // IGNORE: the log is not told
		Props: map[string]string{
			"email.host": "127.0.0.1", "email.port": strconv.Itoa(l.Addr().(*net.TCPAddr).Port),
			"email.useSsl": "false", "email.starttls": "off", // without them the connection has TLS
			"email.from": "jobs@example.com", "email.to": "ops@example.com",
		},
	}, job.HandlerFunc(func(context.Context, job.ShardingContext) error {
		return errors.New("disk full")
	}), job.WithErrorHandler(email.Name, email.Type(alert.Options{})))
	if err != nil {
		log.Fatal(err)
	}
	mail := <-office.mails
	fmt.Println(mail.from, mail.to)
	if err := errors.Join(s.Shutdown(ctx), reg.Close(ctx), server.Close()); err != nil {
		log.Fatal(err)
	}
	<-served
	// Output: jobs@example.com [ops@example.com]
}
