package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/elasticjob-go/elasticjob/console/internal/route"
	"github.com/elasticjob-go/elasticjob/job/cronexpr"
)

// CronInput is an expression, and how it is to be explained.
type CronInput struct {
	Expression string `query:"expression" required:"true" minLength:"1" maxLength:"4096" doc:"Quartz expression, the five fields of Unix cron, or a descriptor such as @daily." example:"0 0 3 ? * MON-FRI"`
	TimeZone   string `query:"timeZone" maxLength:"100" default:"UTC" doc:"IANA name, or an offset such as GMT+08:00." example:"Asia/Shanghai"`
	Language   string `query:"language" enum:"en,zh" default:"en" doc:"Language of the explanation."`
	Count      int    `query:"count" minimum:"1" maximum:"100" default:"10" doc:"How many ticks are told."`
}

// CronInfo is what an expression means.
type CronInfo struct {
	Expression  string      `json:"expression" doc:"The expression, written in the same way for all that mean the same."`
	TimeZone    string      `json:"timeZone" doc:"Zone in which it was read."`
	Explanation string      `json:"explanation" doc:"What it means, in a sentence." example:"at 03:00 from Monday to Friday"`
	Ticks       []time.Time `json:"ticks" nullable:"false" doc:"The next ones."`
}

func (a *API) addCron() {
	register(a, route.Need{Scope: route.SignedIn}, huma.Operation{
		OperationID: "explain-cron", Method: http.MethodGet, Path: Prefix + "/cron", Tags: tagConsole, Summary: "What a cron expression means",
	}, explain)
}

func explain(_ context.Context, in *CronInput) (*answer[CronInfo], error) {
	zone, err := zoneOf(in.TimeZone)
	if err != nil {
		return nil, err
	}
	s, err := cronexpr.Parse(in.Expression, zone)
	if err != nil {
		return nil, refuse("query.expression", "%v", err)
	}
	language := cronexpr.English
	if in.Language == "zh" {
		language = cronexpr.Chinese
	}
	info := CronInfo{Expression: s.String(), TimeZone: zone.String(), Explanation: s.Explain(language), Ticks: []time.Time{}}
	for at := s.Next(time.Now()); !at.IsZero() && len(info.Ticks) < in.Count; at = s.Next(at) {
		info.Ticks = append(info.Ticks, at.UTC())
	}
	return &answer[CronInfo]{info}, nil
}
