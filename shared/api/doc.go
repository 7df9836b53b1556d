// Package api is the job service's HTTP API: scrapyd's JSON API, so that
// scrapyd's clients (scrapyd-client, python-scrapyd-api) work unchanged.
//
// Every answer is one JSON object with node_name and status. As scrapyd does, a
// request that asks for something impossible is answered with HTTP status 200
// and {"status":"error","message":…}. Source: scrapyd 1.6, webservice.py. What
// differs, and what scrapyd leaves to its users:
//
//   - The service has one project, and the version that was deployed. Code is
//     deployed with the stack, so addversion.json, delversion.json and
//     delproject.json answer an error that says what to do instead.
//   - jobid makes schedule.json idempotent: the same arguments again are the
//     same job, even when it has ended; other arguments are an error. A jobid is
//     1 to 200 bytes without control characters and slashes, and neither "."
//     nor "..".
//   - schedule.json takes _start_url, repeated: http or https URLs that replace
//     the spider's own.
//   - priority is checked and means nothing, since no job waits for another;
//     neither does the signal of cancel.json: what is under way settles.
//   - A job is pending while it is paused, running until it has ended, and
//     finished then. Entries of jobs, and status.json, also have state (see
//     [crawl.JobState]), and where they are known finish_reason and problem:
//     by them a failed job is told from a good one.
//   - pid, log_url and items_url are null: a job is no process.
//   - Times are UTC, always with six digits of a second.
//   - listjobs.json has the last 100 jobs that ended, by the time they were
//     asked for.
//   - A method that an endpoint does not take is answered with 405, an unknown
//     path with 404, a body longer than 1 MiB with 413, a request that a browser
//     sends for another site with 403, and a fault of the service with 500.
//     These have scrapyd's error shape, too.
//   - No page of another origin may read the answers (scrapyd allows all), since
//     a proxy that signs requests lends its rights to whoever reaches it.
//
// The package authenticates nobody. Who may call is settled before a request
// gets here: by the function URL (AUTH=iam) or by the program that serves the
// handler.
package api
