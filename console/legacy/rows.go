package legacy

import (
	"bytes"
	"cmp"
	"encoding/json"
	"reflect"
	"strconv"
	"time"

	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/trace/history"
)

// moment is a time as Jackson has it: milliseconds since 1970. In questions it may be a text, too.
type moment struct{ time.Time }

func (m moment) MarshalJSON() ([]byte, error) {
	if m.IsZero() {
		return []byte("null"), nil
	}
	return strconv.AppendInt(nil, m.UnixMilli(), 10), nil
}

func (m *moment) UnmarshalJSON(text []byte) error {
	if bytes.Equal(text, []byte("null")) || bytes.Equal(text, []byte(`""`)) {
		return nil
	}
	plain := string(bytes.Trim(text, `"`))
	if ms, err := strconv.ParseInt(plain, 10, 64); err == nil && -maxMilli <= ms && ms <= maxMilli {
		m.Time = time.UnixMilli(ms)
		return nil
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999Z0700", "2006-01-02T15:04:05.999", time.DateOnly} {
		if at, err := time.Parse(layout, plain); err == nil {
			m.Time = at
			return nil
		}
	}
	return &json.UnmarshalTypeError{Value: string(text), Type: reflect.TypeFor[int64]()}
}

// maxMilli is the end of the year 9999.
const maxMilli = 253_402_300_799_999

// oldMoment is a time as Gson has it: Java's medium length in English, in the console's zone.
type oldMoment struct{ time.Time }

func (m oldMoment) MarshalJSON() ([]byte, error) {
	return json.Marshal(m.Format("Jan 2, 2006 3:04:05 PM"))
}

// execution is JobExecutionEvent.
type (
	execution struct {
		ID           string  `json:"id"`
		Hostname     string  `json:"hostname"`
		IP           string  `json:"ip"`
		TaskID       string  `json:"taskId"`
		JobName      string  `json:"jobName"`
		Source       string  `json:"source"`
		ShardingItem int     `json:"shardingItem"`
		StartTime    moment  `json:"startTime"`
		CompleteTime moment  `json:"completeTime"`
		Success      bool    `json:"success"`
		FailureCause *string `json:"failureCause"`
	}
	executionOld struct {
		ID           string       `json:"id"`
		Hostname     string       `json:"hostname"`
		IP           string       `json:"ip"`
		TaskID       string       `json:"taskId"`
		JobName      string       `json:"jobName"`
		Source       string       `json:"source"`
		ShardingItem int          `json:"shardingItem"`
		StartTime    oldMoment    `json:"startTime,omitzero"`
		CompleteTime oldMoment    `json:"completeTime,omitzero"`
		Success      bool         `json:"success"`
		FailureCause failureCause `json:"failureCause"`
	}
	failureCause struct {
		PlainText string `json:"plainText,omitempty"`
	}
)

func (a *api) executionRows(d dialect, found []history.Execution) any {
	rows := make([]execution, 0, len(found))
	for _, x := range found {
		row := execution{
			ID: x.ID, Hostname: x.Hostname, IP: x.IP, TaskID: cmp.Or(x.TaskID, x.ID), JobName: x.Job, Source: x.Source.String(), ShardingItem: x.Item,
			StartTime: moment{x.StartTime}, CompleteTime: moment{x.CompleteTime}, Success: x.Outcome == history.OutcomeOf(jobtype.OutcomeOK),
		}
		if x.Error != "" {
			row.FailureCause = &x.Error
		}
		rows = append(rows, row)
	}
	return as(d, rows, func(x execution) executionOld {
		return executionOld{
			x.ID, x.Hostname, x.IP, x.TaskID, x.JobName, x.Source, x.ShardingItem, a.old(x.StartTime), a.old(x.CompleteTime), x.Success,
			failureCause{textOf(x.FailureCause)},
		}
	})
}

// old returns a time in the console's zone.
func (a *api) old(m moment) oldMoment {
	if m.IsZero() {
		return oldMoment{}
	}
	return oldMoment{m.In(a.Zone)}
}

// status is JobStatusTraceEvent.
type (
	status struct {
		ID             string  `json:"id"`
		JobName        string  `json:"jobName"`
		OriginalTaskID string  `json:"originalTaskId"`
		TaskID         string  `json:"taskId"`
		SlaveID        string  `json:"slaveId"`
		Source         *string `json:"source"`
		ExecutionType  string  `json:"executionType"`
		ShardingItems  string  `json:"shardingItems"`
		State          string  `json:"state"`
		Message        *string `json:"message"`
		CreationTime   moment  `json:"creationTime"`
	}
	statusOld struct {
		ID             string    `json:"id"`
		JobName        string    `json:"jobName"`
		OriginalTaskID string    `json:"originalTaskId"`
		TaskID         string    `json:"taskId"`
		SlaveID        string    `json:"slaveId"`
		Source         *string   `json:"source,omitempty"`
		ExecutionType  string    `json:"executionType"`
		ShardingItems  string    `json:"shardingItems"`
		State          string    `json:"state"`
		Message        *string   `json:"message,omitempty"`
		CreationTime   oldMoment `json:"creationTime,omitzero"`
	}
)

func (a *api) statusRows(d dialect, found []history.Status) any {
	rows := make([]status, 0, len(found))
	for _, s := range found {
		row := status{
			ID: s.ID, JobName: s.Job, OriginalTaskID: s.OriginalTaskID, TaskID: s.TaskID, SlaveID: s.IP, ExecutionType: s.ExecutionType,
			ShardingItems: s.Items, State: s.State, Message: &s.Message, CreationTime: moment{s.CreationTime},
		}
		if s.Source != "" {
			row.Source = &s.Source
		}
		rows = append(rows, row)
	}
	return as(d, rows, func(s status) statusOld {
		return statusOld{s.ID, s.JobName, s.OriginalTaskID, s.TaskID, s.SlaveID, s.Source, s.ExecutionType, s.ShardingItems, s.State, s.Message, a.old(s.CreationTime)}
	})
}
