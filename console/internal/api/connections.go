package api

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/elasticjob-go/elasticjob/console/connection"
	"github.com/elasticjob-go/elasticjob/console/internal/route"
)

// connectionsPath is that of all connections. They are for who may administer everything: whoever may put
// one chooses the server that gets its password.
const connectionsPath = Prefix + "/connections"

var tagConnections = []string{"connections"}

// NamespaceConnectionBody says how to get to a namespace.
type NamespaceConnectionBody struct {
	Kind      string   `json:"kind" enum:"etcd,zookeeper" doc:"Kind of the store."`
	Endpoints []string `json:"endpoints" minItems:"1" maxItems:"20" nullable:"false" doc:"host:port of the members of the store."`
	Path      string   `json:"namespace" minLength:"1" maxLength:"255" doc:"Namespace within the store." example:"shop/jobs"`
	User      string   `json:"user,omitempty" maxLength:"255" doc:"User and password are both there, or none."`
	Password  string   `json:"password,omitempty" maxLength:"1024" doc:"A password, or a reference ${env:NAME} or ${file:/path} that the console's options allow. Answers never have it: they have ***, which in a request keeps the one there is, unless kind, endpoints, user or TLS change."`
	TLS       *TLSBody `json:"tls,omitempty" doc:"Without it connections are not encrypted."`
	Grants    string   `json:"grants,omitempty" maxLength:"4096" doc:"ZooKeeper: what others may do with what the console makes there." example:"digest:user:hash:r"`
	Database  string   `json:"database,omitempty" maxLength:"100" doc:"Name of the database with the history of its jobs."`
}

// DatabaseConnectionBody says how to get to a database with a history.
type DatabaseConnectionBody struct {
	Driver   string   `json:"driver" enum:"sqlite,mysql,postgres" doc:"Kind of the database. There are no others."`
	Address  string   `json:"address" minLength:"1" maxLength:"1020" doc:"host:port; of SQLite the path of the file, in a folder that the console's options allow."`
	Schema   string   `json:"database,omitempty" maxLength:"255" doc:"Name of the database in the server; SQLite has none."`
	User     string   `json:"user,omitempty" maxLength:"255" doc:"SQLite has none."`
	Password string   `json:"password,omitempty" maxLength:"1024" doc:"As that of a namespace."`
	TLS      *TLSBody `json:"tls,omitempty" doc:"Without it connections are not encrypted."`
}

// TLSBody says how connections are encrypted.
type TLSBody struct {
	CACert     string `json:"cacert,omitempty" maxLength:"1020" doc:"Path of a file with the authorities that are trusted, in a folder that the console's options allow. Default those of the system."`
	Cert       string `json:"cert,omitempty" maxLength:"1020" doc:"Path of a file with a client's certificate."`
	Key        string `json:"key,omitempty" maxLength:"1020" doc:"Path of the file with its private key."`
	ServerName string `json:"serverName,omitempty" maxLength:"255" doc:"Name in the servers' certificates. Default the host."`
}

// NamespaceConnection is how to get to a namespace, and how it stands with that. Of a fixed one there may be
// nothing but its name.
type NamespaceConnection struct {
	Name      string   `json:"name" doc:"Name that the console has for it."`
	Kind      string   `json:"kind,omitempty" doc:"Kind of the store."`
	Endpoints []string `json:"endpoints,omitempty" nullable:"false" doc:"Members of the store."`
	Path      string   `json:"namespace,omitempty" doc:"Namespace within the store."`
	User      string   `json:"user,omitempty" doc:"Name by which the console logs in."`
	Password  string   `json:"password,omitempty" doc:"***, or a reference." example:"***"`
	TLS       *TLSBody `json:"tls,omitempty" doc:"Without it connections are not encrypted."`
	Grants    string   `json:"grants,omitempty" doc:"ZooKeeper: what others may do with what the console makes there."`
	Database  string   `json:"database,omitempty" doc:"Name of the database with the history of its jobs."`
	ConnectionState
}

// DatabaseConnection is how to get to a database, and how it stands with that. Of a fixed one there may be
// nothing but its name.
type DatabaseConnection struct {
	Name     string   `json:"name" doc:"Name that the console has for it."`
	Driver   string   `json:"driver,omitempty" doc:"Kind of the database."`
	Address  string   `json:"address,omitempty" doc:"host:port; of SQLite the path of the file."`
	Schema   string   `json:"database,omitempty" doc:"Name of the database in the server."`
	User     string   `json:"user,omitempty" doc:"Name by which the console logs in."`
	Password string   `json:"password,omitempty" doc:"***, or a reference." example:"***"`
	TLS      *TLSBody `json:"tls,omitempty" doc:"Without it connections are not encrypted."`
	ConnectionState
	Namespaces []string `json:"namespaces" nullable:"false" doc:"Those whose jobs have their history in it."`
}

// ConnectionState is how it stands with a connection.
type ConnectionState struct {
	Fixed bool      `json:"fixed,omitempty" doc:"It is of the console's start, and cannot be changed here."`
	Phase string    `json:"phase" doc:"How it stands: idle (nobody has asked for it), connecting, connected or away."`
	Since time.Time `json:"since" doc:"Since when it is in this phase."`
	Error string    `json:"error,omitempty" doc:"Why it is away."`
}

// ConnectionTest is how a test has ended.
type ConnectionTest struct {
	OK     bool   `json:"ok" doc:"Whether it was well."`
	Reason string `json:"reason,omitempty" doc:"Why it has failed: unreachable, refused (user and password), tls, invalid, denied (the user may not read there) or unsupported (the version of the server)."`
	Detail string `json:"detail,omitempty" doc:"The same, for people."`
	Millis int64  `json:"millis" doc:"How long it took."`
}

// InConnection is the part of a request that says which connection it is about.
type InConnection struct {
	Name string `path:"connection" maxLength:"100" doc:"Name that the console has for it." example:"orders"`
}

// InConnectionVersion is the part of a request that says of which version a connection has to be.
type InConnectionVersion struct {
	IfMatch     string `header:"If-Match" maxLength:"1000" doc:"ETag that it has to have, or * for any. Without this header and If-None-Match the answer is 428."`
	IfNoneMatch string `header:"If-None-Match" enum:"*" doc:"With * there has to be none."`
}

// PutNamespaceConnectionInput says what a connection is to be.
type PutNamespaceConnectionInput struct {
	InConnection
	InConnectionVersion
	Body NamespaceConnectionBody
}

// PutDatabaseConnectionInput says what a connection is to be.
type PutDatabaseConnectionInput struct {
	InConnection
	InConnectionVersion
	Body DatabaseConnectionBody
}

// RemoveConnectionInput says which connection is to go.
type RemoveConnectionInput struct {
	InConnection
	IfMatch string `header:"If-Match" maxLength:"1000" doc:"ETag that it has to have, or * for any. It is needed: without it the answer is 428."`
}

// TestNamespaceConnectionInput says which connection is to be tried.
type TestNamespaceConnectionInput struct {
	InConnection
	Body *NamespaceConnectionBody `doc:"Default: what there is."`
}

// TestDatabaseConnectionInput says which connection is to be tried.
type TestDatabaseConnectionInput struct {
	InConnection
	Body *DatabaseConnectionBody `doc:"Default: what there is."`
}

// connections are the operations on a book.
type connections struct{ book *connection.Book }

// AddConnections adds the routes with which the connections of a book are seen, changed and tried.
//
// Errors: one that says what of a route is wrong.
func (a *API) AddConnections(book *connection.Book) error {
	c := &connections{book}
	namespaces, databases := connectionsPath+"/namespaces", connectionsPath+"/databases"
	register(a, admin(route.Everything), huma.Operation{
		OperationID: "list-namespace-connections", Method: http.MethodGet, Path: namespaces, Tags: tagConnections, Summary: "Connections to namespaces",
	}, c.namespaces)
	register(a, admin(route.Everything), huma.Operation{
		OperationID: "get-namespace-connection", Method: http.MethodGet, Path: namespaces + "/{connection}", Tags: tagConnections, Summary: "Connection to a namespace",
	}, c.namespace)
	register(a, admin(route.Everything), huma.Operation{
		OperationID: "put-namespace-connection", Method: http.MethodPut, Path: namespaces + "/{connection}", Tags: tagConnections, Summary: "Add a namespace, or change how to get to it",
		Description: putConnection, Errors: putErrors(),
	}, c.putNamespace)
	register(a, admin(route.Everything), huma.Operation{
		OperationID: "remove-namespace-connection", Method: http.MethodDelete, Path: namespaces + "/{connection}", Tags: tagConnections, Summary: "Remove the connection to a namespace",
		Description: "Its jobs go on. " + needsMatch, Errors: putErrors(),
	}, c.removeNamespace)
	register(a, admin(route.Everything), huma.Operation{
		OperationID: "test-namespace-connection", Method: http.MethodPost, Path: namespaces + "/{connection}/test", Tags: tagConnections, Summary: "Try to get to a namespace",
		Description: testConnection + " On ZooKeeper it makes the namespace, if there is none.",
	}, c.testNamespace)
	register(a, admin(route.Everything), huma.Operation{
		OperationID: "list-database-connections", Method: http.MethodGet, Path: databases, Tags: tagConnections, Summary: "Connections to databases with the history of jobs",
	}, c.databases)
	register(a, admin(route.Everything), huma.Operation{
		OperationID: "get-database-connection", Method: http.MethodGet, Path: databases + "/{connection}", Tags: tagConnections, Summary: "Connection to a database",
	}, c.database)
	register(a, admin(route.Everything), huma.Operation{
		OperationID: "put-database-connection", Method: http.MethodPut, Path: databases + "/{connection}", Tags: tagConnections, Summary: "Add a database, or change how to get to it",
		Description: putConnection, Errors: putErrors(),
	}, c.putDatabase)
	register(a, admin(route.Everything), huma.Operation{
		OperationID: "remove-database-connection", Method: http.MethodDelete, Path: databases + "/{connection}", Tags: tagConnections, Summary: "Remove the connection to a database",
		Description: "What is in it stays. " + needsMatch, Errors: putErrors(),
	}, c.removeDatabase)
	register(a, admin(route.Everything), huma.Operation{
		OperationID: "test-database-connection", Method: http.MethodPost, Path: databases + "/{connection}/test", Tags: tagConnections, Summary: "Try to log in to a database",
		Description: testConnection,
	}, c.testDatabase)
	return errors.Join(a.errs...)
}

const (
	putConnection  = "If-None-Match: * adds, If-Match changes; one of them is needed. The body is all there is to be. Who uses the connection of before has 30 s to end."
	needsMatch     = "If-Match is needed."
	testConnection = "It takes 5 s at most, and changes nothing. Without a body it tries what there is."
)

func putErrors() []int {
	return []int{http.StatusConflict, http.StatusPreconditionFailed, http.StatusPreconditionRequired}
}

func (c *connections) namespaces(context.Context, *struct{}) (*answer[List[NamespaceConnection]], error) {
	var rows []NamespaceConnection
	for _, n := range c.book.Namespaces() {
		rows = append(rows, c.shownNamespace(n))
	}
	return listed(rows), nil
}

func (c *connections) namespace(_ context.Context, in *InConnection) (*versioned[NamespaceConnection], error) {
	n, err := c.book.Namespace(in.Name)
	if err != nil {
		return nil, err
	}
	return &versioned[NamespaceConnection]{quoted(n.Version), c.shownNamespace(n)}, nil
}

func (c *connections) putNamespace(ctx context.Context, in *PutNamespaceConnectionInput) (*versioned[NamespaceConnection], error) {
	version, err := in.version(func() error { _, err := c.book.Namespace(in.Name); return err })
	if err != nil {
		return nil, err
	}
	n, err := c.book.PutNamespace(ctx, in.Body.connection(in.Name), version)
	if err != nil {
		return nil, err
	}
	return &versioned[NamespaceConnection]{quoted(n.Version), c.shownNamespace(n)}, nil
}

func (c *connections) removeNamespace(ctx context.Context, in *RemoveConnectionInput) (*struct{}, error) {
	version, err := (&InConnectionVersion{IfMatch: in.IfMatch}).version(func() error { return nil })
	if err == nil {
		err = c.book.RemoveNamespace(ctx, in.Name, version)
	}
	return nil, err
}

func (c *connections) testNamespace(ctx context.Context, in *TestNamespaceConnectionInput) (*answer[ConnectionTest], error) {
	n, err := c.book.Namespace(in.Name)
	if in.Body != nil {
		n, err = in.Body.connection(in.Name), nil
	}
	if err != nil {
		return nil, err
	}
	return tested(func() error { return c.book.TestNamespace(ctx, n) })
}

func (c *connections) databases(context.Context, *struct{}) (*answer[List[DatabaseConnection]], error) {
	var rows []DatabaseConnection
	for _, d := range c.book.Databases() {
		rows = append(rows, c.shownDatabase(d))
	}
	return listed(rows), nil
}

func (c *connections) database(_ context.Context, in *InConnection) (*versioned[DatabaseConnection], error) {
	d, err := c.book.Database(in.Name)
	if err != nil {
		return nil, err
	}
	return &versioned[DatabaseConnection]{quoted(d.Version), c.shownDatabase(d)}, nil
}

func (c *connections) putDatabase(ctx context.Context, in *PutDatabaseConnectionInput) (*versioned[DatabaseConnection], error) {
	version, err := in.version(func() error { _, err := c.book.Database(in.Name); return err })
	if err != nil {
		return nil, err
	}
	d, err := c.book.PutDatabase(ctx, in.Body.connection(in.Name), version)
	if err != nil {
		return nil, err
	}
	return &versioned[DatabaseConnection]{quoted(d.Version), c.shownDatabase(d)}, nil
}

func (c *connections) removeDatabase(ctx context.Context, in *RemoveConnectionInput) (*struct{}, error) {
	version, err := (&InConnectionVersion{IfMatch: in.IfMatch}).version(func() error { return nil })
	if err == nil {
		err = c.book.RemoveDatabase(ctx, in.Name, version)
	}
	return nil, err
}

func (c *connections) testDatabase(ctx context.Context, in *TestDatabaseConnectionInput) (*answer[ConnectionTest], error) {
	d, err := c.book.Database(in.Name)
	if in.Body != nil {
		d, err = in.Body.connection(in.Name), nil
	}
	if err != nil {
		return nil, err
	}
	return tested(func() error { return c.book.TestDatabase(ctx, d) })
}

func (c *connections) shownNamespace(n connection.Namespace) NamespaceConnection {
	return NamespaceConnection{
		Name: n.Name, Kind: string(n.Kind), Endpoints: n.Endpoints, Path: n.Path, User: n.User, Password: n.Password.String(),
		TLS: (*TLSBody)(n.TLS), Grants: n.Grants, Database: n.Database, ConnectionState: c.state("namespace", n.Name, n.Fixed),
	}
}

func (c *connections) shownDatabase(d connection.Database) DatabaseConnection {
	return DatabaseConnection{
		Name: d.Name, Driver: string(d.Driver), Address: d.Address, Schema: d.Schema, User: d.User, Password: d.Password.String(),
		TLS: (*TLSBody)(d.TLS), ConnectionState: c.state("database", d.Name, d.Fixed), Namespaces: notNil(c.book.NamespacesOf(d.Name)),
	}
}

func (c *connections) state(what, name string, isFixed bool) ConnectionState {
	for _, s := range c.book.States() {
		if s.What == what && s.Name == name {
			return ConnectionState{isFixed, string(s.Phase), s.Since.UTC(), s.Error}
		}
	}
	return ConnectionState{Fixed: isFixed, Phase: string(connection.Idle)} // it was removed just now
}

func (b *NamespaceConnectionBody) connection(name string) connection.Namespace {
	return connection.Namespace{
		Name: name, Kind: connection.Kind(b.Kind), Endpoints: b.Endpoints, Path: b.Path, User: b.User, Password: connection.Plain(b.Password),
		TLS: (*connection.TLS)(b.TLS), Grants: b.Grants, Database: b.Database,
	}
}

func (b *DatabaseConnectionBody) connection(name string) connection.Database {
	return connection.Database{
		Name: name, Driver: connection.Driver(b.Driver), Address: b.Address, Schema: b.Schema, User: b.User, Password: connection.Plain(b.Password),
		TLS: (*connection.TLS)(b.TLS),
	}
}

// version returns which version of a connection is meant. It has to be said, so that nobody overwrites what he
// has not seen. exists returns why there is none.
func (in *InConnectionVersion) version(exists func() error) (string, error) {
	switch {
	case in.IfNoneMatch != "" && in.IfMatch != "":
		return "", refuse("header.If-None-Match", "not together with If-Match")
	case in.IfNoneMatch != "":
		return connection.NoVersion, nil
	case in.IfMatch == "":
		return "", newProblem(http.StatusPreconditionRequired, "no-precondition",
			"header If-Match has to say which version is meant", FieldError{"header.If-Match", "needed"})
	case in.IfMatch == "*":
		return connection.AnyVersion, exists()
	}
	version := strings.TrimSuffix(strings.TrimPrefix(in.IfMatch, `"`), `"`)
	if version == connection.NoVersion || version == connection.AnyVersion || in.IfMatch != quoted(version) {
		return "", newProblem(http.StatusPreconditionFailed, "no-such-version",
			"header If-Match is no ETag of this API: allowed are one that an answer had, and *", FieldError{"header.If-Match", "no ETag of this API"})
	}
	return version, nil
}

// quoted returns the ETag of a version; none has none.
func quoted(version string) string {
	if version == "" {
		return ""
	}
	return `"` + version + `"`
}

// tested runs a test.
func tested(test func() error) (*answer[ConnectionTest], error) {
	begin := time.Now()
	err := test()
	out := ConnectionTest{OK: err == nil, Millis: time.Since(begin).Milliseconds()}
	if err != nil {
		fault, ok := errors.AsType[*connection.TestError](err)
		if !ok {
			return nil, err
		}
		out.Reason, out.Detail = string(fault.Reason), fault.Err.Error()
	}
	return &answer[ConnectionTest]{out}, nil
}
