package legacy

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/connection"
	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// center is RegistryCenterConfiguration. Its digest is never told.
type (
	center struct {
		Name          string  `json:"name"`
		ZkAddressList string  `json:"zkAddressList"`
		Namespace     string  `json:"namespace"`
		Digest        *string `json:"digest"`
		Activated     bool    `json:"activated"`
	}
	centerOld struct {
		Name          string  `json:"name"`
		ZkAddressList string  `json:"zkAddressList"`
		Namespace     string  `json:"namespace"`
		Digest        *string `json:"digest,omitempty"`
		Activated     bool    `json:"activated"`
	}
)

func oldCenter(c center) centerOld { return centerOld(c) }

// etcdScheme begins the addresses of etcd, which ElasticJob's console does not know.
const etcdScheme = "etcd://"

func centerOf(n connection.Namespace, active bool) center {
	addresses := strings.Join(n.Endpoints, ",")
	if n.Kind == connection.Etcd {
		addresses = etcdScheme + addresses
	}
	return center{Name: n.Name, ZkAddressList: addresses, Namespace: n.Path, Activated: active}
}

func (a *api) listCenters(r *http.Request, d dialect) (any, error) {
	p := access.From(r.Context())
	active, ok := a.center(p)
	var rows []center
	for _, c := range a.centers(p) {
		rows = append(rows, centerOf(c, ok && c.Name == active.Name))
	}
	return as(d, rows, oldCenter), nil
}

// activatedCenter tells whether there is one, and in 3.x which.
func (a *api) activatedCenter(r *http.Request, d dialect) (any, error) {
	active, ok := a.center(access.From(r.Context()))
	switch {
	case d == console:
		return ok, nil
	case ok:
		return centerOf(active, true), nil
	default:
		return nil, nil
	}
}

func (a *api) addCenter(r *http.Request, _ dialect) (any, error) {
	var body centerOld
	if _, err := decode(r, &body); err != nil {
		return nil, err
	}
	n := connection.Namespace{Name: body.Name, Kind: connection.ZooKeeper, Path: body.Namespace}
	list, isEtcd := strings.CutPrefix(strings.TrimSpace(body.ZkAddressList), etcdScheme)
	if isEtcd {
		n.Kind = connection.Etcd
	}
	for address := range strings.SplitSeq(list, ",") {
		if address = strings.TrimSpace(address); address != "" {
			n.Endpoints = append(n.Endpoints, address)
		}
	}
	user, password, _ := strings.Cut(textOf(body.Digest), ":")
	n.User, n.Password = user, connection.Plain(password)
	_, err := a.Connections.PutNamespace(r.Context(), n, connection.NoVersion)
	return a.added(r, "a namespace was put", n.Name, err)
}

// tell logs a change of connections, with who has made it from where: they are in no namespace, whose store
// would have an audit.
func (a *api) tell(r *http.Request, what, name string) {
	p := access.From(r.Context())
	a.Slog.Info("connections: "+what, "connection", name, "by", p.Name, "from", p.Address)
}

// added is true if something was added, and false if there is one of the name.
func (a *api) added(r *http.Request, what, name string, err error) (any, error) {
	if errors.Is(err, connection.ErrExists) {
		return false, nil
	}
	if err == nil {
		a.tell(r, what, name)
	}
	return true, err
}

// named is the body of who asks for something by its name.
type named struct {
	Name string `json:"name"`
}

func nameOf(r *http.Request) (string, error) {
	var body named
	if _, err := decode(r, &body); err != nil {
		return "", err
	}
	if body.Name == "" {
		return "", fmt.Errorf("%w: name: is empty", errBody)
	}
	return body.Name, nil
}

// removeCenter does not mind if there is none of the name, as ElasticJob.
func (a *api) removeCenter(r *http.Request, _ dialect) (any, error) {
	name, err := nameOf(r)
	if err != nil {
		return nil, err
	}
	return a.removed(r, "a namespace was removed", name, a.Connections.RemoveNamespace(r.Context(), name, connection.AnyVersion))
}

func (a *api) removed(r *http.Request, what, name string, err error) (any, error) {
	switch {
	case errors.Is(err, connection.ErrNoNamespace), errors.Is(err, connection.ErrNoDatabase):
		return gone{}, nil
	case err == nil:
		a.tell(r, what, name)
	}
	return gone{}, err
}

// connectCenter activates a centre for the caller, if it can be connected to.
func (a *api) connectCenter(r *http.Request, _ dialect) (any, error) {
	name, err := nameOf(r)
	if err != nil {
		return nil, err
	}
	p := access.From(r.Context())
	for _, c := range a.centers(p) {
		if c.Name != name {
			continue
		}
		if _, err := a.Connections.Ops(r.Context(), name); err != nil {
			a.Slog.Info("console: a registry centre cannot be connected to", "name", name, "error", oneLine(err))
			return false, nil
		}
		a.choices.set(p, func(c *choice) { c.center = name })
		return true, nil
	}
	return nil, fmt.Errorf("%w that you may see: %s", connection.ErrNoNamespace, brief.Quote(name))
}
