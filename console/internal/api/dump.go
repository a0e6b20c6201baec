package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/elasticjob-go/elasticjob/console/internal/route"
	"github.com/elasticjob-go/elasticjob/job/dump"
)

// DumpInput says how a dump is to be.
type DumpInput struct {
	InJob
	Mask bool `query:"mask" default:"true" doc:"Whether addresses are replaced by ip1, ip2, …, for dumps that are sent to others."`
}

func (a *API) addDump() {
	register(a, viewer(route.Job), huma.Operation{
		OperationID: "get-dump", Method: http.MethodGet, Path: jobPath + "/dump", Tags: tagJobs, Summary: "All nodes that the registry has of a job",
	}, a.dump)
}

func (a *API) dump(ctx context.Context, in *DumpInput) (*answer[dump.Dump], error) {
	j, err := a.job(ctx)
	if err != nil {
		return nil, err
	}
	d, err := j.Dump(ctx)
	if err != nil {
		return nil, err
	}
	d = d.WithoutSecrets()
	if in.Mask {
		d = d.Masked()
	}
	d.Nodes = notNil(d.Nodes)
	return &answer[dump.Dump]{d}, nil
}
