package feeds

import (
	"fmt"
	"io"
	"log/slog"
	"path"
	"strings"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/stats"
)

// The formats there are, by the names that [FormatOf] gives them.
const (
	JSONLines = "jsonl"
	JSON      = "json"
	CSV       = "csv"
)

const known = ".jsonl (or .jl), .json and .csv"

// FormatOf returns the format of a file by the ending of its name. The error
// names the endings there are.
func FormatOf(file string) (string, error) {
	switch ending := strings.ToLower(path.Ext(file)); ending {
	case ".jsonl", ".jl":
		return JSONLines, nil
	case ".json":
		return JSON, nil
	case ".csv":
		return CSV, nil
	case "":
		return "", fmt.Errorf("%s: the format is told by the ending, and there is none; there are %s", file, known)
	case ".xml", ".parquet":
		return "", fmt.Errorf("%s: %s is not there yet; there are %s", file, ending, known)
	default:
		return "", fmt.Errorf("%s: no format has the ending %s; there are %s", file, ending, known)
	}
}

// Options say how items are written. The zero value is a good one.
type Options struct {
	// Fields are the fields that are written, in their order
	// (FEED_EXPORT_FIELDS). JSON has those of them that an item has, CSV has
	// an empty cell for those that are missing.
	//
	// Default: all fields in the item's own order; in CSV, those of the first
	// item.
	Fields []string

	// Indent is how many blanks a level of JSON is indented by
	// (FEED_EXPORT_INDENT). JSON Lines and CSV have none.
	//
	// Default: 0, one item a line.
	Indent int

	// GuardFormulas puts a quote mark before texts in CSV that a spreadsheet
	// would run as a formula: those that begin with = + - @, a tab or a
	// carriage return. It changes the data.
	//
	// Default: false, as in Scrapy.
	GuardFormulas bool

	// Log hears of items and fields that are left out. Nil logs nothing.
	Log *slog.Logger

	// Stats counts them: feedexport/item_failed_count and
	// feedexport/field_dropped_count. Nil counts nothing.
	Stats *stats.Collector

	// header is what the CSV has already that is appended to.
	header []string
}

// An Exporter writes items in one format: Begin, Item for each, End. It is used
// by one goroutine.
type Exporter interface {
	// Begin writes what stands before the first item.
	Begin() error

	// Item writes one item. After an *ItemError nothing of it was written, and
	// the next may follow. Any other error is the writer's.
	Item(item crawl.Item) error

	// End writes what stands after the last item.
	End() error
}

// An ItemError says that an item cannot be written in a format.
type ItemError struct{ Err error }

func (e *ItemError) Error() string { return "item not written: " + e.Err.Error() }
func (e *ItemError) Unwrap() error { return e.Err }

// New returns the exporter of a format. It makes small writes; w is to be
// buffered.
func New(format string, w io.Writer, o Options) (Exporter, error) {
	switch format {
	case JSONLines:
		return &jsonLines{jsonWriter{w: w, fields: o.Fields}}, nil
	case JSON:
		return &jsonArray{jsonWriter: jsonWriter{w: w, fields: o.Fields}, indent: o.Indent}, nil
	case CSV:
		return newCSV(w, o)
	}
	return nil, fmt.Errorf("no feed has the format %q; there are %s, %s and %s", format, JSONLines, JSON, CSV)
}

func (o Options) count(key string) {
	if o.Stats != nil {
		o.Stats.Inc(key)
	}
}

func (o Options) warn(msg string, args ...any) {
	if o.Log != nil {
		o.Log.Warn(msg, args...)
	}
}
