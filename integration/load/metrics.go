package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxMetrics bounds what is read of a member's metrics, in bytes.
const maxMetrics = 16 << 20

// scrapeAll reads the metrics of all members. Requests and CPU time are those of all
// together. Revisions and fsyncs are those of the first one, because all have the same.
func scrapeAll(ctx context.Context, endpoints []string) (all served, err error) {
	for i, e := range endpoints {
		one, err := scrape(ctx, e)
		if err != nil {
			return all, err
		}
		if i == 0 {
			all = one
			continue
		}
		all.cpu += one.cpu
		all.requests += one.requests
	}
	return all, nil
}

func scrape(ctx context.Context, endpoint string) (served, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute) // a machine may stand still for some seconds
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+endpoint+"/metrics", nil)
	if err != nil {
		return served{}, err
	}
	transport := &http.Transport{DisableKeepAlives: true} // so that no connection is left
	answer, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return served{}, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return served{}, fmt.Errorf("%s: %s", request.URL, answer.Status)
	}
	return parseMetrics(io.LimitReader(answer.Body, maxMetrics))
}

// parseMetrics reads what we need of the text format of Prometheus.
func parseMetrics(text io.Reader) (served, error) {
	s := served{unknown, unknown, unknown, unknown}
	lines := bufio.NewScanner(text)
	for lines.Scan() {
		series, number, ok := strings.Cut(lines.Text(), " ")
		if !ok || strings.HasPrefix(series, "#") {
			continue
		}
		// The labels of a series may have spaces.
		if end := strings.LastIndexByte(lines.Text(), '}'); end >= 0 {
			series, number = lines.Text()[:end], strings.TrimSpace(lines.Text()[end+1:])
		}
		name, labels, _ := strings.Cut(series, "{")
		value := func() float64 {
			v, err := strconv.ParseFloat(number, 64)
			if err != nil {
				return 0
			}
			return v
		}
		switch name {
		case "process_cpu_seconds_total":
			s.cpu = time.Duration(value() * float64(time.Second))
		case "etcd_debugging_mvcc_current_revision":
			s.revisions = value()
		case "etcd_disk_wal_fsync_duration_seconds_count":
			s.fsyncs = value()
		case "grpc_server_handled_total":
			if strings.Contains(labels, `grpc_method="Txn"`) {
				s.requests = max(s.requests, 0) + value()
			}
		}
	}
	return s, lines.Err()
}
