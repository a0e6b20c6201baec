package alert

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/job"
)

// Bounds of a message.
const (
	// MaxErrorText is how much of an error's text is kept, in bytes.
	MaxErrorText = 4 << 10
	// MaxItems is how many items a message lists.
	MaxItems = 20
)

// About is what a message is about.
type About string

// What messages are about.
const (
	AboutFailure About = ""       // items that have failed in this process
	AboutMissed  About = "missed" // ticks that no item of the job has begun
	AboutFault   About = "fault"  // a fault of the job, in any process
	AboutLate    About = "late"   // a tick that is not done by the time of alert.by
)

// Message is what a [Sender] sends. One message stands for all failures with the same error
// since the last one, or for items that work again, or for something that holds of the whole job.
type Message struct {
	// Job is the name of the job.
	Job string `json:"job"`
	// About is what it is about; What says that in a few words, and Fault is the kind of the fault. They are empty if
	// it is about items that have failed.
	About About  `json:"about,omitempty"`
	What  string `json:"what,omitempty"`
	Fault string `json:"fault,omitempty"`
	// Recovered is true if the items work again, or what holds of the whole job is over. Then there is no Error.
	Recovered bool `json:"recovered"`
	// Failing is how many items still fail in this process, of those that messages were about.
	// It is known with alert.recovery only.
	Failing int `json:"failing"`
	// Holding is how much still holds of the whole job of that which messages of this process have told.
	Holding int `json:"holding"`
	// Error is the text of the error, or its first MaxErrorText bytes.
	Error string `json:"error,omitempty"`
	// Mixed is true if the failures have different errors, because there were too many for a
	// message each (alert.queue). Error is the last of them then.
	Mixed bool `json:"mixed,omitempty"`
	// Count is how many failures, or how many items that work again, the message is about; or how often what holds of
	// the whole job has begun, or was over.
	Count int `json:"count"`
	// Items are the first MaxItems items that it is about, ascending; none if it is about a fault or missed ticks.
	Items []int `json:"items"`
	// MoreItems is true if there are more.
	MoreItems bool `json:"moreItems,omitempty"`
	// First and Last are when the first and the last of them happened, by the local clock.
	First time.Time `json:"first"`
	Last  time.Time `json:"last"`
	// Execution is the last of them. If the message is about the whole job, its ScheduledTime is the tick, and its
	// InstanceID the instance that shows the fault.
	Execution Execution `json:"execution"`
	// Host is the name of this machine, or Options.Host.
	Host string `json:"host"`
	// Unsent is how many failures and recoveries before these no message has told of, because
	// it could not be sent.
	Unsent int `json:"unsent,omitempty"`
}

// Execution names an execution.
type Execution struct {
	Item          int       `json:"item"`
	TaskID        string    `json:"taskId"`
	InstanceID    string    `json:"instanceId"`
	ScheduledTime time.Time `json:"scheduledTime"`
	Source        string    `json:"source"`
	Attempt       int       `json:"attempt"`
}

func executionOf(sc job.ShardingContext) Execution {
	return Execution{sc.Item, sc.TaskID, sc.InstanceID, sc.ScheduledTime, sc.Source.String(), sc.Attempt}
}

// Resolved reports whether nothing fails any more in this process, and nothing holds of the whole job, as far as its
// messages have told: then a tool that keeps incidents may close the one of this job.
func (m Message) Resolved() bool { return m.Recovered && m.Failing+m.Holding == 0 }

// Title says what has happened, in one line.
func (m Message) Title() string {
	switch {
	case m.About != AboutFailure:
		return m.stateTitle()
	case m.Recovered:
		return fmt.Sprintf("Job '%s' works again: %s", m.Job, m.itemList())
	case m.Count == 1:
		return fmt.Sprintf("Job '%s' failed: %s", m.Job, m.itemList())
	}
	return fmt.Sprintf("Job '%s' failed %d times: %s", m.Job, m.Count, m.itemList())
}

func (m Message) stateTitle() string {
	what := m.What
	if len(m.Items) > 0 {
		what += ": " + m.itemList()
	}
	if m.Recovered {
		return fmt.Sprintf("Job '%s': it is over: %s", m.Job, what)
	}
	return fmt.Sprintf("Job '%s': %s", m.Job, what)
}

func (m Message) itemList() string {
	var b strings.Builder
	b.WriteString("item ")
	if len(m.Items) > 1 {
		b.Reset()
		b.WriteString("items ")
	}
	for i, item := range m.Items {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(strconv.Itoa(item))
	}
	if m.MoreItems {
		b.WriteString(" and more")
	}
	return b.String()
}

// Line is a line of the text for people.
type Line struct{ Name, Value string }

// Lines says the rest, for people.
func (m Message) Lines() []Line {
	const layout = "2006-01-02 15:04:05 Z07:00"
	var lines []Line
	add := func(name, value string) { lines = append(lines, Line{name, value}) }
	if m.Unsent > 0 {
		add("Before", fmt.Sprintf("%d failures or recoveries, whose messages could not be sent", m.Unsent))
	}
	if m.Recovered && m.Failing > 0 {
		add("Still failing", fmt.Sprintf("%d items", m.Failing))
	}
	if m.Recovered && m.Holding > 0 {
		add("Still holding", fmt.Sprintf("%d troubles of the whole job", m.Holding))
	}
	add("Time", m.Last.Format(layout))
	if m.Count > 1 {
		add("Since", m.First.Format(layout))
	}
	if !m.Execution.ScheduledTime.IsZero() || m.About == AboutFailure {
		add("Scheduled", m.Execution.ScheduledTime.Format(layout))
	}
	if m.About == AboutFailure {
		add("Execution", fmt.Sprintf("item %d, attempt %d, %s", m.Execution.Item, m.Execution.Attempt, m.Execution.Source))
		add("Task", brief.Text(m.Execution.TaskID))
	}
	if m.Execution.InstanceID != "" || m.About == AboutFailure {
		add("Instance", brief.Text(m.Execution.InstanceID))
	}
	add("Host", brief.Text(m.Host))
	switch {
	case m.Error == "" && m.About != AboutFailure, m.Recovered:
	case m.Mixed:
		add("Several errors, the last", m.Error)
	default:
		add("Error", m.Error)
	}
	return lines
}

// Text is Title and Lines as one text. The error comes last, because receivers that have
// room for short texts only get the beginning.
func (m Message) Text() string {
	var b strings.Builder
	b.WriteString(m.Title())
	for _, line := range m.Lines() {
		b.WriteString("\n" + line.Name + ": " + line.Value)
	}
	return b.String()
}

// textOf returns the text of an error, cut. The methods of an error are the user's: they may
// panic.
func textOf(err error) (text string) {
	defer func() {
		if recover() != nil {
			text = "an error whose text cannot be had: its method panicked"
		}
	}()
	return strings.ToValidUTF8(brief.Cut(err.Error(), MaxErrorText-len("…")), "\uFFFD")
}

// items lists items, up to a bound.
type items struct {
	list []int
	more bool
}

func (l *items) add(item int) {
	if slices.Contains(l.list, item) {
		return
	}
	if len(l.list) == MaxItems {
		l.more = true
		return
	}
	l.list = append(l.list, item)
}
