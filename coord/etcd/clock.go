package etcd

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
)

// Clock implements [coord.Registry]. The first call begins what it tells of.
func (r *Registry) Clock() coord.Clock {
	r.clocked.Do(func() { r.start(func() { r.clock.Run(r.ctx) }) })
	return r.clock.Clock()
}

// compareClock compares the clocks.
func (r *Registry) compareClock(ctx context.Context) (coord.Clock, error) {
	timeout := r.config.RequestTimeout / 2
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, noAnswer(timeout))
	defer cancel()
	readings, err := r.readClocks(ctx)
	if clock, ok := median(readings); ok {
		return clock, nil
	}
	err = fmt.Errorf("etcd: compare the clocks: %w", err)
	r.log.Debug("the store's clock cannot be read", zap.Error(err))
	return coord.Clock{}, err
}

// clockReading is what one server has said: at some moment between before and after, of
// the local clock, its own showed the date, which has lost its fractions of a second.
type clockReading struct {
	before, after, date time.Time
}

// offset is how far the server's clock is from the local one, give or take the uncertainty.
func (c clockReading) offset() (offset, uncertainty time.Duration) {
	least, most := c.date.Sub(c.after), c.date.Add(time.Second).Sub(c.before)
	return least + (most-least)/2, (most - least) / 2
}

// median takes the reading in the middle, so that one server whose clock is wrong moves
// nothing.
func median(readings []clockReading) (coord.Clock, bool) {
	if len(readings) == 0 {
		return coord.Clock{}, false
	}
	slices.SortFunc(readings, func(a, b clockReading) int {
		offset, _ := a.offset()
		other, _ := b.offset()
		return cmp.Compare(offset, other)
	})
	middle := readings[(len(readings)-1)/2]
	offset, uncertainty := middle.offset()
	// Without the monotonic reading, so that it is compared with what the wall clock shows.
	return coord.NewClock(middle.after, middle.after.Round(0).Add(offset), uncertainty), true
}

// readClocks asks all endpoints at once. It returns the readings of those that answered, and
// the errors of the others.
func (r *Registry) readClocks(ctx context.Context) ([]clockReading, error) {
	client := r.httpClient()
	defer client.CloseIdleConnections()
	var mu sync.Mutex
	var readings []clockReading
	var failures []error
	var asking sync.WaitGroup
	for _, endpoint := range r.client.Endpoints() {
		asking.Go(func() {
			reading, err := askDate(ctx, client, versionURL(endpoint, r.config.TLS != nil))
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failures = append(failures, err)
				return
			}
			readings = append(readings, reading)
		})
	}
	asking.Wait()
	return readings, errors.Join(failures...)
}

// httpClient returns a client that speaks HTTP 1, which the port tells from gRPC, and keeps no connection.
func (r *Registry) httpClient() *http.Client {
	transport := &http.Transport{DisableKeepAlives: true}
	if r.config.TLS != nil {
		transport.TLSClientConfig = r.config.TLS.Clone()
		transport.TLSClientConfig.NextProtos = nil
	}
	return &http.Client{Transport: transport}
}

func versionURL(endpoint string, withTLS bool) string {
	scheme, address := splitEndpoint(endpoint)
	if scheme == "" {
		scheme = "http"
		if withTLS {
			scheme = "https"
		}
	}
	return scheme + "://" + address + "/version"
}

func askDate(ctx context.Context, client *http.Client, url string) (clockReading, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return clockReading{}, fmt.Errorf("%w: %w", coord.ErrNoClock, err)
	}
	before := time.Now()
	response, err := client.Do(request)
	if err != nil {
		return clockReading{}, fmt.Errorf("%w: %w", kindOfHTTP(err), err)
	}
	after := time.Now()
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 64<<10))
	date, err := http.ParseTime(response.Header.Get("Date"))
	if err != nil {
		return clockReading{}, fmt.Errorf("%w: GET %s: the answer has no usable Date header: %w", coord.ErrNoClock, url, err)
	}
	// By the monotonic clock, in case that the wall clock was set meanwhile.
	took := after.Sub(before)
	return clockReading{after.Add(-took), after, date}, nil
}

// kindOfHTTP tells a port that cannot be reached from one that does not speak HTTP.
func kindOfHTTP(err error) error {
	_, certificate := errors.AsType[*tls.CertificateVerificationError](err)
	_, network := errors.AsType[*net.OpError](err)
	switch {
	case certificate, strings.Contains(err.Error(), "remote error: tls: "):
		return coord.ErrDenied
	case network, errors.Is(err, context.DeadlineExceeded),
		errors.Is(err, coord.ErrUnavailable): // the cause of the time-out
		return coord.ErrUnavailable
	}
	return coord.ErrNoClock
}
