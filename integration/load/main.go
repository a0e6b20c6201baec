package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	playRole()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // so that a second signal ends the program at once
	status := load(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// The exit statuses. That of a wrong argument is the flag package's, too.
const (
	statusGood   = 0
	statusBroken = 1 // a tick has not run once, or the run has failed
	statusUsage  = 2
)

// load is the program: it returns the exit status.
func load(ctx context.Context, args []string, out, progress io.Writer) int {
	o, err := parse(args, progress)
	switch {
	case isHelp(err):
		return statusGood
	case err != nil:
		fmt.Fprintln(progress, "load:", err)
		return statusUsage
	}
	r, err := run(ctx, o, progress)
	if err != nil {
		fmt.Fprintln(progress, "load:", err)
		return statusBroken
	}
	if o.json {
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		err = e.Encode(r)
	} else {
		err = r.write(out)
	}
	if err != nil {
		fmt.Fprintln(progress, "load:", err)
		return statusBroken
	}
	if broken := r.broken(); broken != "" {
		fmt.Fprintln(progress, "load: broken:", broken)
		return statusBroken
	}
	return statusGood
}
