package jobfile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/job/dump"
	"github.com/elasticjob-go/elasticjob/job/health"
)

// listen serves the pages of all sections, each on its address; sections with the same one
// share it. close ends that.
func (a *App) listen(ctx context.Context, reg coord.Registry) (close func(context.Context) error, err error) {
	pages, sections := map[string]*http.ServeMux{}, map[string]string{}
	on := func(section, address string) *http.ServeMux {
		if pages[address] == nil {
			pages[address], sections[address] = http.NewServeMux(), section
		}
		return pages[address]
	}
	if s := a.file.metrics; s != nil && !s.off && s.listen != "" {
		if a.exporter != nil {
			on(keyMetrics, s.listen).Handle("GET /metrics", a.exporter)
		} else {
			on(keyMetrics, s.listen).HandleFunc("GET /debug/vars", a.metrics.serve)
		}
	}
	var service *dump.Service
	if s := a.file.dump; s != nil && !s.off {
		lines := a.file.options.Log
		if lines == nil {
			lines = a.runs
		}
		service, err = dump.New(reg, a.node, dump.Options{
			Token: s.token, Shows: s.isFor, Log: lines, Commands: a.file.options.Commands, Slog: a.log,
		})
		if err != nil {
			return nil, fmt.Errorf("jobfile: %s: %s: %w", a.file.at(keyDump), keyDump, err)
		}
		on(keyDump, s.listen).Handle("/", service.Handler())
	}
	if s := a.file.health; s != nil && !s.off {
		pages := health.Handler(a.Health())
		for _, path := range []string{"/live", "/ready", "/faults"} {
			on(keyHealth, s.listen).Handle(path, pages)
		}
	}

	var servers []*http.Server
	var serving sync.WaitGroup
	lines, endLines := context.WithCancel(context.WithoutCancel(ctx))
	close = func(ctx context.Context) error {
		var errs []error
		endLines()
		for _, s := range servers {
			if err := s.Shutdown(ctx); err != nil {
				errs = append(errs, err, s.Close())
			}
		}
		serving.Wait()
		return errors.Join(errs...)
	}
	for address, mux := range pages {
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("jobfile: %s: %s: %w", a.file.at(sections[address]), sections[address], err), close(ctx))
		}
		server := &http.Server{
			Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 2 * time.Minute, IdleTimeout: time.Minute,
			MaxHeaderBytes: 16 << 10, ErrorLog: slog.NewLogLogger(a.log.Handler(), slog.LevelWarn),
		}
		servers = append(servers, server)
		serving.Go(func() {
			if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
				a.setFault(subject{section: "listen"}, fmt.Errorf("listen %s: %w", address, err))
			}
		})
		a.log.Info("listens", slog.String("address", l.Addr().String()))
	}
	if service != nil && a.file.dump.line != "" {
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", a.file.dump.line)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("jobfile: %s: %s.line: %w", a.file.at(keyDump), keyDump, err), close(ctx))
		}
		serving.Go(func() {
			if err := service.ServeLines(lines, l); err != nil {
				a.setFault(subject{section: "listen"}, fmt.Errorf("listen %s: %w", a.file.dump.line, err))
			}
		})
		a.log.Info("listens for lines", slog.String("address", l.Addr().String()))
	}
	return close, nil
}

// answer writes a document as JSON.
func answer(w http.ResponseWriter, document any) {
	text, err := json.MarshalIndent(document, "", "  ")
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(append(text, '\n')) // who reads it notices if it fails
}
