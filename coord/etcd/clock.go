package etcd

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
)

// Now implements [coord.Registry]. etcd's API never tells the time, but its client port
// also answers HTTP, with a Date header in whole seconds. The first endpoint that answers
// is believed.
func (r *Registry) Now(ctx context.Context, path string) (time.Time, error) {
	const what = "read the clock"
	if err := coord.ValidatePath(path); err != nil {
		return time.Time{}, fmt.Errorf("etcd: %s: %w", what, err)
	}
	ctx, cancel, err := r.bound(ctx)
	if err != nil {
		return time.Time{}, fmt.Errorf("etcd: %s: %w", what, err)
	}
	defer cancel()
	client := r.httpClient()
	defer client.CloseIdleConnections()
	var failures []error
	for _, endpoint := range r.config.Endpoints {
		now, err := askDate(ctx, client, versionURL(endpoint, r.config.TLS != nil))
		if err == nil {
			return now, nil
		}
		if ctx.Err() != nil {
			return time.Time{}, fmt.Errorf("etcd: %s: %w", what, context.Cause(ctx))
		}
		failures = append(failures, err)
	}
	return time.Time{}, fmt.Errorf("etcd: %s: %w", what, errors.Join(failures...))
}

// httpClient speaks HTTP 1, which the port divides from gRPC by, and keeps no connection.
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

func askDate(ctx context.Context, client *http.Client, url string) (time.Time, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return time.Time{}, fmt.Errorf("%w: %w", coord.ErrNoClock, err)
	}
	response, err := client.Do(request)
	if err != nil {
		return time.Time{}, fmt.Errorf("%w: %w", kindOfHTTP(err), err)
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 64<<10))
	date, err := http.ParseTime(response.Header.Get("Date"))
	if err != nil {
		return time.Time{}, fmt.Errorf("%w: GET %s: the answer has no usable Date header: %w", coord.ErrNoClock, url, err)
	}
	return date, nil
}

// kindOfHTTP tells a port that cannot be reached from one that does not speak HTTP.
func kindOfHTTP(err error) error {
	var certificate *tls.CertificateVerificationError
	var network *net.OpError
	switch {
	case errors.As(err, &certificate), strings.Contains(err.Error(), "remote error: tls: "):
		return coord.ErrDenied
	case errors.As(err, &network):
		return coord.ErrUnavailable
	}
	return coord.ErrNoClock
}

// Clock implements [coord.Registry].
func (r *Registry) Clock() coord.Clock { return coord.Clock{} }
