package aws_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skitterhq/skitter/shared/aws"
	"github.com/skitterhq/skitter/shared/aws/awstest"
	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/jobs"
)

// dieAtPut makes the process that creates a job die: its n-th put and all that
// comes after it never reach DynamoDB.
func dieAtPut(t *testing.T, s *aws.Store, inside *awstest.Backend, n int, job crawl.Job) {
	t.Helper()
	puts := 0
	inside.SetHook(func(c *awstest.Call) awstest.Fault {
		if c.Op == "dynamodb.PutItem" {
			puts++
		}
		return awstest.Fault{Dropped: puts >= n}
	})
	if _, _, err := s.Jobs().Create(t.Context(), job); err == nil {
		t.Fatal("the creation did not fail")
	}
	inside.SetHook(nil)
}

func wantJob(t *testing.T, what string, got, want crawl.Job) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: mismatch (-want, +got):\n%s", what, diff)
	}
}

// wantListed fails unless the sweep finds exactly these jobs.
func wantListed(t *testing.T, s *aws.Store, want ...crawl.JobUID) {
	t.Helper()
	list, err := s.Jobs().List(t.Context(), "", 0, crawl.JobRunning)
	if err != nil {
		t.Fatal(err)
	}
	var got []crawl.JobUID
	for _, job := range list {
		got = append(got, job.UID)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("jobs that run: mismatch (-want, +got):\n%s", diff)
	}
}

func TestACreatorThatDiesBeforeTheNameLeavesItFree(t *testing.T) {
	s, _, inside := openFaulty(t)
	dieAtPut(t, s, inside, 1, someJob("first", "nightly"))
	if _, err := s.Jobs().Find(t.Context(), "shop", "nightly"); !errors.Is(err, jobs.ErrNotFound) {
		t.Errorf("find: %v, want ErrNotFound", err)
	}
	second := someJob("second", "nightly")
	got, wrote, err := s.Jobs().Create(t.Context(), second)
	if err != nil || !wrote {
		t.Fatalf("create: %t (%v)", wrote, err)
	}
	wantJob(t, "create", got, second)
	wantListed(t, s, "second")
}

func TestAJobWhoseCreatorDiedIsRunByWhoeverAsksForItsName(t *testing.T) {
	first := someJob("first", "nightly")
	for name, ask := range map[string]func(t *testing.T, s *aws.Store) (crawl.Job, error){
		"find": func(t *testing.T, s *aws.Store) (crawl.Job, error) {
			return s.Jobs().Find(t.Context(), "shop", "nightly")
		},
		"create": func(t *testing.T, s *aws.Store) (crawl.Job, error) {
			got, wrote, err := s.Jobs().Create(t.Context(), someJob("second", "nightly"))
			if wrote {
				t.Error("a second job of the name was created")
			}
			return got, err
		},
		"the creator again": func(t *testing.T, s *aws.Store) (crawl.Job, error) {
			got, wrote, err := s.Jobs().Create(t.Context(), first)
			if !wrote {
				t.Error("the creator is told that it is another's job")
			}
			return got, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, _, inside := openFaulty(t)
			dieAtPut(t, s, inside, 2, first)
			wantListed(t, s)
			got, err := ask(t, s)
			if err != nil {
				t.Fatal(err)
			}
			wantJob(t, "asked", got, first)
			if got, err = s.Jobs().Get(t.Context(), "first"); err != nil {
				t.Fatal(err)
			}
			wantJob(t, "get", got, first)
			wantListed(t, s, "first")
		})
	}
}

func TestWhoFindsANameBeforeItsCreatorIsDoneChangesNothing(t *testing.T) {
	s, _, inside := openFaulty(t)
	puts := 0
	inside.SetHook(func(c *awstest.Call) awstest.Fault {
		if c.Op != "dynamodb.PutItem" {
			return awstest.Fault{}
		}
		puts++
		if puts != 1 {
			return awstest.Fault{}
		}
		// Another finds the name, and updates the job, before the creator
		// gets to the job's own row.
		return awstest.Fault{After: func() {
			job, err := s.Jobs().Find(t.Context(), "shop", "nightly")
			if err != nil {
				t.Errorf("find: %v", err)
			}
			job.State = crawl.JobClosing
			if _, wrote, err := s.Jobs().Update(t.Context(), job); err != nil || !wrote {
				t.Errorf("update: %t (%v)", wrote, err)
			}
		}}
	})
	got, wrote, err := s.Jobs().Create(t.Context(), someJob("first", "nightly"))
	if err != nil || !wrote {
		t.Fatalf("create: %t (%v)", wrote, err)
	}
	if got.Rev != 1 || got.State != crawl.JobClosing {
		t.Errorf("the creator is told rev %d, %s, want what stands there", got.Rev, got.State)
	}
}

// A name is forgotten before its job is: else the job, found missing, would be
// run a second time.
func TestAnExpiredNameIsFreeAndItsJobIsNotRunAgain(t *testing.T) {
	s, c, _ := openFaulty(t)
	first := someJob("first", "nightly")
	if _, wrote, err := s.Jobs().Create(t.Context(), first); err != nil || !wrote {
		t.Fatalf("create: %t (%v)", wrote, err)
	}
	lives := first.Latest.Add(retention)
	c.Advance(lives.Sub(c.Now()) - day - 1)
	if _, err := s.Jobs().Find(t.Context(), "shop", "nightly"); err != nil {
		t.Errorf("find within the retention: %v", err)
	}
	c.Advance(1)
	if _, err := s.Jobs().Find(t.Context(), "shop", "nightly"); !errors.Is(err, jobs.ErrNotFound) {
		t.Errorf("find by an expired name: %v, want ErrNotFound", err)
	}
	if _, err := s.Jobs().Get(t.Context(), "first"); err != nil {
		t.Errorf("get, a day after the name: %v", err)
	}
	second := someJob("second", "nightly")
	second.Created, second.Latest = c.Now(), c.Now().Add(day)
	if _, wrote, err := s.Jobs().Create(t.Context(), second); err != nil || !wrote {
		t.Errorf("create by an expired name: %t (%v)", wrote, err)
	}
	c.Advance(day)
	if _, err := s.Jobs().Get(t.Context(), "first"); !errors.Is(err, jobs.ErrNotFound) {
		t.Errorf("get after the retention: %v, want ErrNotFound", err)
	}
	if _, _, err := s.Jobs().Update(t.Context(), first); !errors.Is(err, jobs.ErrNotFound) {
		t.Errorf("update after the retention: %v, want ErrNotFound", err)
	}
	wantListed(t, s, "second")
}

// The sweep reads what runs and what has ended one after the other.
func TestAJobThatEndsWhileJobsAreListedIsListedOnce(t *testing.T) {
	s, _, inside := openFaulty(t)
	if _, _, err := s.Jobs().Create(t.Context(), someJob("first", "nightly")); err != nil {
		t.Fatal(err)
	}
	queries := 0
	inside.SetHook(func(c *awstest.Call) awstest.Fault {
		if c.Op != "dynamodb.Query" {
			return awstest.Fault{}
		}
		if queries++; queries != 1 {
			return awstest.Fault{}
		}
		return awstest.Fault{After: func() {
			ended := someJob("first", "nightly")
			ended.State = crawl.JobFinished
			if _, wrote, err := s.Jobs().Update(t.Context(), ended); err != nil || !wrote {
				t.Errorf("update: %t (%v)", wrote, err)
			}
		}}
	})
	list, err := s.Jobs().List(t.Context(), "", 0)
	if err != nil || len(list) != 1 || list[0].State != crawl.JobFinished {
		t.Errorf("listed %v (%v), want the job once, as it ended", list, err)
	}
}
