package crawl

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
)

// A JobUID names one job for ever: names are unique in a project only, so
// rows, messages and blobs carry the UID, which is made when the job is.
type JobUID string

// NewJobUID returns a random UID: 24 hexadecimal digits, 96 bits.
func NewJobUID() JobUID {
	var b [12]byte
	rand.Read(b[:]) // never fails, see crypto/rand
	return JobUID(hex.EncodeToString(b[:]))
}

// maxJobName is the longest name of a job in bytes: with its project it fits
// every key of the stores, the shortest of which is DynamoDB's sort key of 1,024
// bytes. Source: Amazon DynamoDB Developer Guide, "Quotas".
const maxJobName = 200

// CheckJobName says what is wrong with a name that somebody gives to a job: it
// has 1 to 200 bytes, and since names get into paths, terminals and logs, no
// slashes and no control characters, nor is it "." or "..".
func CheckJobName(name string) error {
	switch {
	case name == "":
		return errors.New("it is empty")
	case len(name) > maxJobName:
		return fmt.Errorf("it has %d bytes, more than %d", len(name), maxJobName)
	case name == "." || name == "..", strings.ContainsAny(name, `/\`), strings.ContainsFunc(name, unicode.IsControl):
		return fmt.Errorf("%q has slashes or control characters, or is a folder's name", name)
	}
	return nil
}

// A JobState says where a job is in its life.
type JobState string

// The states of a job. running → closing is one conditional write, and so is
// closing → one of the last three, which are final.
const (
	JobRunning   JobState = "running"
	JobPaused    JobState = "paused"
	JobClosing   JobState = "closing"
	JobFinished  JobState = "finished"
	JobFailed    JobState = "failed"
	JobCancelled JobState = "cancelled"
)

// Ended reports whether a state is final.
func (s JobState) Ended() bool {
	return s == JobFinished || s == JobFailed || s == JobCancelled
}

// Reasons that end a job. A spider may give its own.
const (
	ReasonFinished   = "finished"
	ReasonCancelled  = "cancelled"
	ReasonStartError = "start_error"
	ReasonDeadline   = "deadline"
	ReasonFailed     = "failed"
)

// A Job is one run of a spider, as its row tells it. It is small; what the
// job was asked to do lies in its [JobSpec].
type Job struct {
	UID     JobUID `json:"uid"`
	Project string `json:"project"`

	// Name is the job's ID as people give it (scrapyd's jobid), unique in
	// its project.
	Name   string   `json:"name"`
	Spider string   `json:"spider"`
	State  JobState `json:"state"`

	// Stop is the reason why the job is to end early; empty while it need
	// not. The first reason wins. A stopped job gets no new turn and admits
	// nothing; the pages it has are still parsed.
	Stop string `json:"stop,omitempty"`

	// Reason is why the job ended (finish_reason), from closing on.
	Reason string `json:"reason,omitempty"`

	// Problem says what went wrong at the end, such as a feed that could not
	// be written; empty if nothing did.
	Problem string `json:"problem,omitempty"`

	// Rev is raised by each change of state, and by redrive before it
	// reopens a unit, so that a look that began before finds it changed.
	Rev int64 `json:"rev"`

	// SpecHash tells two jobs of one name apart: the hash of the JobSpec.
	SpecHash string `json:"spec_hash"`

	Created time.Time `json:"created"`
	// Ended is when the job reached its final state; zero before.
	Ended time.Time `json:"ended,omitzero"`
	// Latest is when the job is closed with ReasonDeadline at the latest.
	Latest time.Time `json:"latest"`
}

// Open reports whether the job may start new work.
func (j *Job) Open() bool { return j.State == JobRunning && j.Stop == "" }

// A JobSpec is what a job was asked to do. It never changes.
type JobSpec struct {
	Spider string `json:"spider"`
	// Definition is the text of a YAML spider that the job brings itself, of
	// the name in Spider; empty for one of the project's.
	Definition string `json:"definition,omitempty"`
	// Args are the spider's arguments (-a NAME=VALUE).
	Args map[string]string `json:"args,omitempty"`
	// Settings override those of the spider and the project (-s NAME=VALUE).
	Settings map[string]string `json:"settings,omitempty"`
	// StartURLs replace the spider's own where there are any.
	StartURLs []string `json:"start_urls,omitempty"`
	// FailedOf names a job of the project whose failed units are what this
	// one starts with, in place of anything else.
	FailedOf JobUID `json:"failed_of,omitempty"`
	// Feeds are the files that the items are written to at the end.
	Feeds []Feed `json:"feeds,omitempty"`
}

// A Feed is a file of a job's items.
type Feed struct {
	// URI says where: a path of this machine, or an s3:// address.
	URI string `json:"uri"`
	// Format is the ending that names it: "jsonl", "json", "csv".
	Format string `json:"format"`
	// Overwrite replaces what is there; else the items are appended.
	Overwrite bool `json:"overwrite,omitempty"`
}
