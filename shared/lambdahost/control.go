package lambdahost

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/engine"
)

// Control is what the control function does beside its queue.
type Control struct {
	// DeadLetters accounts for what the queues gave up on.
	DeadLetters func(ctx context.Context, letters []engine.DeadDelivery) []string
	// Sweep looks after the jobs.
	Sweep func(ctx context.Context) error
	// Create starts a job.
	Create func(ctx context.Context, o engine.Order) (crawl.Job, bool, error)
	// Object reads an object of S3.
	Object func(ctx context.Context, bucket, key string) ([]byte, error)
	// API answers calls of the function URL.
	API http.Handler
	// Project is that of jobs which name none.
	Project string
}

// A wish asks for a job, as a schedule, an event or an object tells it.
type wish struct {
	// Schedule and Time are those of a schedule: its name, and when it was
	// to run.
	Schedule string    `json:"schedule,omitempty"`
	Time     time.Time `json:"time,omitzero"`
	Skitter  string    `json:"skitter,omitempty"`

	Project string `json:"project,omitempty"`
	// Job is the job's ID; what asks gives one where it is empty, so that
	// asking twice is asking once.
	Job       string            `json:"job,omitempty"`
	Spider    string            `json:"spider"`
	Args      map[string]string `json:"args,omitempty"`
	Settings  map[string]any    `json:"settings,omitempty"`
	StartURLs []string          `json:"start_urls,omitempty"`
	Feeds     []crawl.Feed      `json:"feeds,omitempty"`
}

// readWish reads one. What it does not know it refuses: a setting that is
// misspelled must not run a job of another kind.
func readWish(data []byte) (wish, error) {
	var w wish
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&w); err != nil {
		return w, fmt.Errorf("what job to start: %w; there are spider, args, settings, start_urls, feeds, job and project", err)
	}
	if w.Spider == "" {
		return w, errors.New("what job to start: the spider is missing")
	}
	return w, nil
}

// started is the answer to a wish.
type started struct {
	Job string       `json:"job"`
	UID crawl.JobUID `json:"uid"`
	// Created is false where the job had been started before.
	Created bool `json:"created"`
}

func (h *Host) start(ctx context.Context, w wish) (started, error) {
	settings := make(map[string]string, len(w.Settings))
	for name, value := range w.Settings {
		settings[name] = settingText(value)
	}
	project := w.Project
	if project == "" {
		project = h.Control.Project
	}
	job, created, err := h.Control.Create(ctx, engine.Order{Project: project, Name: w.Job, Spec: crawl.JobSpec{
		Spider: w.Spider, Args: w.Args, Settings: settings, StartURLs: w.StartURLs, Feeds: w.Feeds,
	}})
	if err != nil {
		return started{}, fmt.Errorf("start a job of spider %s: %w", w.Spider, err)
	}
	h.Log.Info("job asked for", "job", job.Name, "uid", job.UID, "spider", w.Spider, "created", created)
	return started{job.Name, job.UID, created}, nil
}

// settingText is a setting's value as a flag would give it.
func settingText(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value) // what JSON gave, JSON can write
	}
	return string(text)
}

// What a schedule of ours asks for.
const (
	doSweep = "sweep"
	doStart = "start"
)

// scheduled works what one of our schedules sends.
func (h *Host) scheduled(ctx context.Context, do string, payload []byte) (any, error) {
	switch do {
	case doSweep:
		return struct{}{}, h.Control.Sweep(ctx)
	case doStart:
		w, err := readWish(payload)
		if err != nil {
			return nil, err
		}
		if w.Job == "" && w.Schedule != "" && !w.Time.IsZero() {
			w.Job = w.Schedule + "-" + w.Time.UTC().Format("20060102T150405Z")
		}
		return h.start(ctx, w)
	}
	return nil, fmt.Errorf("a schedule asks to %q; there are %s and %s", do, doSweep, doStart)
}

// A busEvent is an event of EventBridge.
type busEvent struct {
	ID         string          `json:"id"`
	Source     string          `json:"source"`
	DetailType string          `json:"detail-type"`
	Detail     json.RawMessage `json:"detail"`
}

// bus works an event of EventBridge: an object that was put into a bucket, or a
// wish of somebody's program.
func (h *Host) bus(ctx context.Context, payload []byte) (any, error) {
	var ev busEvent
	if err := json.Unmarshal(payload, &ev); err != nil {
		return nil, fmt.Errorf("event of EventBridge: %w", err)
	}
	if ev.Source == "aws.s3" {
		return h.object(ctx, ev.Detail)
	}
	w, err := readWish(ev.Detail)
	if err != nil {
		return nil, fmt.Errorf("event %s of %s: %w", ev.ID, ev.Source, err)
	}
	if w.Job == "" {
		w.Job = ev.ID
	}
	return h.start(ctx, w)
}

// startFolder is where an object starts a job that is put there.
const startFolder = "start/"

// object starts the job that an object asks for: its key is start/SPIDER/NAME,
// and it holds start URLs, one a line, or, where the name ends in .json, what
// an event would hold.
func (h *Host) object(ctx context.Context, detail json.RawMessage) (any, error) {
	var d struct {
		Bucket struct {
			Name string `json:"name"`
		} `json:"bucket"`
		Object struct {
			Key       string `json:"key"`
			Sequencer string `json:"sequencer"`
		} `json:"object"`
	}
	if err := json.Unmarshal(detail, &d); err != nil {
		return nil, fmt.Errorf("event of an object: %w", err)
	}
	spider, name := path.Split(strings.TrimPrefix(d.Object.Key, startFolder))
	spider = strings.TrimSuffix(spider, "/")
	if !strings.HasPrefix(d.Object.Key, startFolder) || spider == "" || name == "" {
		return nil, fmt.Errorf("object %s of bucket %s starts no job: its key is to be %sSPIDER/NAME", d.Object.Key, d.Bucket.Name, startFolder)
	}
	data, err := h.Control.Object(ctx, d.Bucket.Name, d.Object.Key)
	if err != nil {
		return nil, fmt.Errorf("object %s of bucket %s: %w", d.Object.Key, d.Bucket.Name, err)
	}
	w := wish{Spider: spider}
	if path.Ext(name) == ".json" {
		if w, err = readWish(data); err != nil {
			return nil, fmt.Errorf("object %s of bucket %s: %w", d.Object.Key, d.Bucket.Name, err)
		}
	} else {
		w.StartURLs = lines(data)
	}
	if w.Job == "" {
		// An object that is put again has another sequencer.
		hash := sha256.Sum256([]byte(d.Bucket.Name + "\n" + d.Object.Key + "\n" + d.Object.Sequencer))
		w.Job = "object-" + hex.EncodeToString(hash[:8])
	}
	return h.start(ctx, w)
}

// lines are those of a text that are neither empty nor begin with #.
func lines(data []byte) []string {
	var list []string
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			list = append(list, line)
		}
	}
	return list
}
