package meter_test

import (
	"math"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/meter"
)

func TestRules(t *testing.T) {
	const kb = 1024
	tests := []struct {
		name      string
		got, want float64
	}{
		{"an action without payload", meter.SQSRequests(0), 1},
		{"one byte", meter.SQSRequests(1), 1},
		{"64 KB", meter.SQSRequests(64 * kb), 1},
		{"64 KB and a byte", meter.SQSRequests(64*kb + 1), 2},
		{"ten messages of 50 KB", meter.SQSRequests(10 * 50 * kb), 8},
		{"the longest batch", meter.SQSRequests(1024 * kb), 16},

		{"writing nothing", meter.WriteUnits(0), 1},
		{"writing 1 KB", meter.WriteUnits(kb), 1},
		{"writing 1 KB and a byte", meter.WriteUnits(kb + 1), 2},
		{"writing the largest item", meter.WriteUnits(400 * kb), 400},

		{"a miss", meter.ReadUnits(0, true), 1},
		{"a miss, eventually", meter.ReadUnits(0, false), 0.5},
		{"reading 4 KB", meter.ReadUnits(4*kb, true), 1},
		{"reading 4 KB and a byte", meter.ReadUnits(4*kb+1, true), 2},
		{"reading 4 KB and a byte, eventually", meter.ReadUnits(4*kb+1, false), 1},
		{"reading 1 MB, eventually", meter.ReadUnits(1024*kb, false), 128},

		{"a GB for a second", meter.GBSeconds(1024, time.Second), 1},
		{"128 MB for a millisecond", meter.GBSeconds(128, time.Millisecond), 0.000125},
		{"a part of a millisecond", meter.GBSeconds(1024, time.Microsecond), 0.001},
		{"a millisecond and a part", meter.GBSeconds(1024, time.Millisecond+1), 0.002},
		{"no time", meter.GBSeconds(1024, 0), 0},
		{"one virtual CPU for a minute", meter.GBSeconds(1769, time.Minute), 103.65234375},
	}
	for _, test := range tests {
		if math.Abs(test.got-test.want) > 1e-12 {
			t.Errorf("%s: %v, want %v", test.name, test.got, test.want)
		}
	}
}

func TestAMeterAddsUp(t *testing.T) {
	m := new(meter.Meter)
	m.Add("SQS", "SendMessage", meter.SQSRequest, 1)
	m.Add("SQS", "SendMessage", meter.SQSRequest, 2)
	m.Add("SQS", "ReceiveMessage", meter.SQSRequest, 1)
	m.Add("DynamoDB", "GetItem", meter.ReadUnit, 0.5)
	m.Add("DynamoDB", "GetItem", meter.ReadUnit, 0)
	m.Add("DynamoDB", "PutItem", meter.WriteUnit, -1)
	m.Add("DynamoDB", "PutItem", meter.WriteUnit, math.NaN())
	want := map[meter.Key]float64{
		{Service: "SQS", Operation: "SendMessage", Unit: meter.SQSRequest}:    3,
		{Service: "SQS", Operation: "ReceiveMessage", Unit: meter.SQSRequest}: 1,
		{Service: "DynamoDB", Operation: "GetItem", Unit: meter.ReadUnit}:     0.5,
	}
	snapshot := m.Snapshot()
	if diff := cmp.Diff(want, snapshot); diff != "" {
		t.Errorf("snapshot (-want, +got):\n%s", diff)
	}
	clear(snapshot)
	if diff := cmp.Diff(map[meter.Unit]float64{meter.SQSRequest: 4, meter.ReadUnit: 0.5}, meter.Totals(m.Snapshot())); diff != "" {
		t.Errorf("totals (-want, +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, m.Take()); diff != "" {
		t.Errorf("taken (-want, +got):\n%s", diff)
	}
	if rest := m.Take(); rest == nil || len(rest) != 0 {
		t.Errorf("taken twice: %v", rest)
	}
}

func TestANilMeterCountsNothing(t *testing.T) {
	var m *meter.Meter
	m.Add("SQS", "SendMessage", meter.SQSRequest, 1)
	if len(m.Snapshot()) != 0 || len(m.Take()) != 0 {
		t.Error("a nil meter has counted")
	}
}

func TestEveryUnitIsTakenOnce(t *testing.T) {
	m := new(meter.Meter)
	var adders sync.WaitGroup
	for range 8 {
		adders.Go(func() {
			for range 1000 {
				m.Add("SQS", "SendMessage", meter.SQSRequest, 1)
			}
		})
	}
	done := make(chan struct{})
	go func() { adders.Wait(); close(done) }()
	sum := 0.0
	for {
		select {
		case <-done:
			if sum += meter.Totals(m.Take())[meter.SQSRequest]; sum != 8000 {
				t.Errorf("%v units were taken, 8000 counted", sum)
			}
			return
		default:
			m.Snapshot()
			sum += meter.Totals(m.Take())[meter.SQSRequest]
		}
	}
}
