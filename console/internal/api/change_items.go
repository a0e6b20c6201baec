package api

import (
	"context"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/elasticjob-go/elasticjob/console/internal/route"
	"github.com/elasticjob-go/elasticjob/ops"
)

// ItemsBody says which items are meant.
type ItemsBody struct {
	Items []int `json:"items" minItems:"1" maxItems:"100000" nullable:"false" doc:"Numbers of the items."`
}

// ItemsInput says which items are meant.
type ItemsInput struct {
	InJob
	InDryRun
	Body ItemsBody
}

// ItemInput says which item is meant.
type ItemInput struct {
	InJob
	InDryRun
	Item int `path:"item" minimum:"0" maximum:"99999" doc:"Number of the item."`
}

// PinInput says where an item belongs.
type PinInput struct {
	ItemInput
	Body PinBody
}

// PinBody says to which instances an item belongs: one of instance, address and label is needed.
type PinBody struct {
	Instance string `json:"instance,omitempty" maxLength:"255" doc:"Id of an instance."`
	Address  string `json:"address,omitempty" maxLength:"255" doc:"Instances at this address."`
	Label    string `json:"label,omitempty" maxLength:"255" doc:"Instances with this label."`
	Strict   bool   `json:"strict,omitempty" doc:"Whether the item has no owner while no such instance is there. Default: it is assigned like any other then."`
}

func (a *API) addItems() {
	for _, v := range []struct {
		verb, summary, about string
		do                   func(*ops.Job, context.Context, ...int) error
	}{
		{"disable", "Keep %s from running", "What runs comes to its end. Ticks are skipped.", (*ops.Job).DisableItems},
		{"enable", "Let %s run again", "Ticks that came meanwhile are not made up.", (*ops.Job).EnableItems},
	} {
		op := func(id, path, what string) huma.Operation {
			return huma.Operation{
				OperationID: id, Method: http.MethodPost, Path: jobPath + path + "/" + v.verb, Tags: tagJobs,
				Summary: fmt.Sprintf(v.summary, what), Description: v.about, DefaultStatus: http.StatusOK, Errors: []int{http.StatusConflict},
			}
		}
		register(a, operator(route.Job), op(v.verb+"-items", "/items", "items"), func(ctx context.Context, in *ItemsInput) (*answer[Changed], error) {
			return a.plainly(ctx, in.InDryRun, func(o *ops.Ops) error { return v.do(o.Job(in.Job), ctx, in.Body.Items...) })
		})
		register(a, operator(route.Job), op(v.verb+"-item", "/items/{item}", "an item"), func(ctx context.Context, in *ItemInput) (*answer[Changed], error) {
			return a.plainly(ctx, in.InDryRun, func(o *ops.Ops) error { return v.do(o.Job(in.Job), ctx, in.Item) })
		})
	}
	register(a, operator(route.Job), huma.Operation{
		OperationID: "pin-item", Method: http.MethodPut, Path: jobPath + "/items/{item}/pin", Tags: tagJobs, Summary: "Give an item to instances of one kind",
		Description: "Whatever the strategy says, until it is unpinned. It replaces another pin.", DefaultStatus: http.StatusOK, Errors: []int{http.StatusConflict},
	}, func(ctx context.Context, in *PinInput) (*answer[Changed], error) {
		return a.plainly(ctx, in.InDryRun, func(o *ops.Ops) error {
			return o.Job(in.Job).Pin(ctx, in.Item, ops.PinRequest{Instance: in.Body.Instance, Address: in.Body.Address, Label: in.Body.Label, Strict: in.Body.Strict})
		})
	})
	register(a, operator(route.Job), huma.Operation{
		OperationID: "unpin-item", Method: http.MethodDelete, Path: jobPath + "/items/{item}/pin", Tags: tagJobs, Summary: "End the pin of an item",
		Description: "Without one nothing changes.", DefaultStatus: http.StatusOK, Errors: []int{http.StatusConflict},
	}, func(ctx context.Context, in *ItemInput) (*answer[Changed], error) {
		return a.plainly(ctx, in.InDryRun, func(o *ops.Ops) error { return o.Job(in.Job).Unpin(ctx, in.Item) })
	})
}
