package client

import (
	"context"
	"net/http"
	"time"
)

// NamespaceAccess says how the console gets to a namespace of a store. For who may administer everything.
type NamespaceAccess struct {
	Kind      string   `json:"kind,omitempty"` // etcd or zookeeper
	Endpoints []string `json:"endpoints,omitempty"`
	Path      string   `json:"namespace,omitempty"` // namespace within the store
	User      string   `json:"user,omitempty"`
	// Password is one, or a reference: ${env:NAME}, ${file:/path}. What is read has *** for one; written, that keeps
	// the one there is.
	Password string `json:"password,omitempty"`
	TLS      *TLS   `json:"tls,omitempty"`
	Grants   string `json:"grants,omitempty"` // ZooKeeper
	Database string `json:"database,omitempty"`
}

// DatabaseAccess says how the console gets to a database with a history.
type DatabaseAccess struct {
	Driver   string `json:"driver,omitempty"` // sqlite, mysql or postgres
	Address  string `json:"address,omitempty"`
	Schema   string `json:"database,omitempty"` // name of the database in the server
	User     string `json:"user,omitempty"`
	Password string `json:"password,omitempty"` // as that of NamespaceAccess
	TLS      *TLS   `json:"tls,omitempty"`
}

// TLS says how connections of the console are encrypted, by paths of files there.
type TLS struct {
	CACert     string `json:"cacert,omitempty"`
	Cert       string `json:"cert,omitempty"`
	Key        string `json:"key,omitempty"`
	ServerName string `json:"serverName,omitempty"`
}

// ConnectionState is how it stands with a connection of the console.
type ConnectionState struct {
	Fixed bool      `json:"fixed,omitempty"` // it cannot be changed here
	Phase string    `json:"phase"`           // idle, connecting, connected or away
	Since time.Time `json:"since"`
	Error string    `json:"error,omitempty"` // why it is away
}

// NamespaceConnection is a connection of the console.
type NamespaceConnection struct {
	Name string `json:"name"`
	NamespaceAccess
	ConnectionState
	// ETag is for Put and Remove.
	ETag string `json:"-"`
}

// DatabaseConnection is a connection of the console.
type DatabaseConnection struct {
	Name string `json:"name"`
	DatabaseAccess
	ConnectionState
	Namespaces []string `json:"namespaces"` // that have their history in it
	// ETag is for Put and Remove.
	ETag string `json:"-"`
}

// ConnectionTest is how a test has ended.
type ConnectionTest struct {
	OK     bool   `json:"ok"`
	Reason string `json:"reason,omitempty"` // unreachable, refused, tls, invalid, denied or unsupported
	Detail string `json:"detail,omitempty"`
	Millis int64  `json:"millis"`
}

// NamespaceConnections returns the connections to namespaces, by name.
func (c *Client) NamespaceConnections(ctx context.Context) ([]NamespaceConnection, error) {
	return rows[NamespaceConnection](ctx, c, query(), "connections", "namespaces")
}

// NamespaceConnection returns the connection to a namespace.
func (c *Client) NamespaceConnection(ctx context.Context, name string) (out NamespaceConnection, err error) {
	err = c.do(ctx, call{method: http.MethodGet, path: []string{"connections", "namespaces", name}, out: &out, etag: &out.ETag})
	return out, err
}

// PutNamespaceConnection writes how to get to a namespace. etag is that of the one to be replaced, or Any; empty if there
// has to be none.
func (c *Client) PutNamespaceConnection(ctx context.Context, name string, a NamespaceAccess, etag string) (out NamespaceConnection, err error) {
	err = c.do(ctx, call{method: http.MethodPut, path: []string{"connections", "namespaces", name}, header: precondition(etag), body: a, out: &out, etag: &out.ETag})
	return out, err
}

// RemoveNamespaceConnection removes the connection to a namespace. Its jobs go on.
func (c *Client) RemoveNamespaceConnection(ctx context.Context, name, etag string) error {
	return c.do(ctx, call{method: http.MethodDelete, path: []string{"connections", "namespaces", name}, header: map[string]string{"If-Match": etag}})
}

// TestNamespaceConnection has the console try to get to a namespace; nil tries the connection that there is.
func (c *Client) TestNamespaceConnection(ctx context.Context, name string, a *NamespaceAccess) (out ConnectionTest, err error) {
	err = c.try(ctx, "namespaces", name, a != nil, a, &out)
	return out, err
}

// DatabaseConnections returns the connections to databases, by name.
func (c *Client) DatabaseConnections(ctx context.Context) ([]DatabaseConnection, error) {
	return rows[DatabaseConnection](ctx, c, query(), "connections", "databases")
}

// DatabaseConnection returns the connection to a database.
func (c *Client) DatabaseConnection(ctx context.Context, name string) (out DatabaseConnection, err error) {
	err = c.do(ctx, call{method: http.MethodGet, path: []string{"connections", "databases", name}, out: &out, etag: &out.ETag})
	return out, err
}

// PutDatabaseConnection is PutNamespaceConnection for a database.
func (c *Client) PutDatabaseConnection(ctx context.Context, name string, a DatabaseAccess, etag string) (out DatabaseConnection, err error) {
	err = c.do(ctx, call{method: http.MethodPut, path: []string{"connections", "databases", name}, header: precondition(etag), body: a, out: &out, etag: &out.ETag})
	return out, err
}

// RemoveDatabaseConnection removes the connection to a database. What is in it stays.
func (c *Client) RemoveDatabaseConnection(ctx context.Context, name, etag string) error {
	return c.do(ctx, call{method: http.MethodDelete, path: []string{"connections", "databases", name}, header: map[string]string{"If-Match": etag}})
}

// TestDatabaseConnection has the console try to log in to a database; nil tries the connection that there is.
func (c *Client) TestDatabaseConnection(ctx context.Context, name string, a *DatabaseAccess) (out ConnectionTest, err error) {
	err = c.try(ctx, "databases", name, a != nil, a, &out)
	return out, err
}

func (c *Client) try(ctx context.Context, kind, name string, isGiven bool, access any, out *ConnectionTest) error {
	a := call{method: http.MethodPost, path: []string{"connections", kind, name, "test"}, out: out}
	if isGiven {
		a.body = access
	}
	return c.do(ctx, a)
}
