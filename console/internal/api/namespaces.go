package api

import (
	"context"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/internal/route"
	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// Root is what there is at /api/v1.
type Root struct {
	Version string            `json:"version" doc:"Version of the program."`
	Links   map[string]string `json:"links" doc:"Paths, by name; {namespace} and {job} stand for names."`
}

// NamespaceInfo is a namespace that somebody may see something of.
type NamespaceInfo struct {
	Name     string `json:"name" doc:"Name that the console has for it, for paths and grants."`
	Database string `json:"database,omitempty" doc:"Name of the database with the history of its jobs."`
	AllJobs  bool   `json:"allJobs" doc:"Whether you may see all of its jobs."`
}

func (a *API) addNamespaces() {
	register(a, route.Need{Scope: route.SignedIn}, huma.Operation{
		OperationID: "get-root", Method: http.MethodGet, Path: Prefix, Tags: tagConsole, Summary: "Version and paths",
	}, a.root)
	register(a, route.Need{Scope: route.SignedIn}, huma.Operation{
		OperationID: "list-namespaces", Method: http.MethodGet, Path: Prefix + "/namespaces", Tags: tagNamespaces,
		Summary: "Namespaces that you may see something of",
	}, a.namespaces)
}

func (a *API) root(context.Context, *struct{}) (*answer[Root], error) {
	return &answer[Root]{Root{Version: a.Version, Links: map[string]string{
		"openapi": Prefix + "/openapi.json", "namespaces": Prefix + "/namespaces", "jobs": namespacePath + "/jobs", "job": jobPath, "executions": namespacePath + "/history/executions",
	}}}, nil
}

func (a *API) namespaces(ctx context.Context, _ *struct{}) (*answer[List[NamespaceInfo]], error) {
	return listed(a.seen(ctx)), nil
}

// seen returns the namespaces that who sends a request may see something of.
func (a *API) seen(ctx context.Context) []NamespaceInfo {
	p := access.From(ctx)
	var rows []NamespaceInfo
	for _, n := range a.Connections.Namespaces() {
		if p.MaySome(access.Viewer, n.Name) {
			rows = append(rows, NamespaceInfo{Name: n.Name, Database: n.Database, AllJobs: p.MayAll(access.Viewer, n.Name)})
		}
	}
	return rows
}

// knownTo says which namespaces there are for who has asked for another one.
func (a *API) knownTo(ctx context.Context) string {
	var list brief.List
	for _, n := range a.seen(ctx) {
		list.Add(n.Name)
	}
	if list.Empty() {
		return "there is none that you may see"
	}
	return fmt.Sprintf("those that you may see are %v", &list)
}
