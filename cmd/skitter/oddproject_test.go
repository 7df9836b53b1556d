package main

import (
	"context"
	"errors"
	"os"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/extract"
	"github.com/skitterhq/skitter/shared/legs"
	"github.com/skitterhq/skitter/shared/pipeline"
	"github.com/skitterhq/skitter/shared/pipelines"
	"github.com/skitterhq/skitter/shared/project"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/spiders"
)

// oddProject is a project of spiders that do what good ones seldom do. Scripts
// call its program skitter-odd.
func oddProject() project.Project {
	p := spiders.Project()
	p.Spiders = []spider.Spider{
		{Name: "fails", Parse: gives(errors.New("no price on the page")), Callbacks: map[string]spider.Callback{"ends": gives(&crawl.CloseSpider{Reason: "enough"})}},
		{Name: "panics", Parse: func(context.Context, *spider.Page, *spider.Output) error { panic("out of paper") }},
		{Name: "local", AllowedDomains: []string{"127.0.0.1"}, Parse: tells},
		keeps(os.Getenv("SITE")), breaks(os.Getenv("SITE")),
		{Name: "ruled", Callbacks: map[string]spider.Callback{"item": tells}, Legs: []spider.Leg{legs.CrawlRules{Rules: []legs.Rule{
			{LinkOptions: extract.LinkOptions{Allow: []string{`/p/\d+$`}}, Callback: "item", CBKwargs: crawl.Values{"by": "rule"}},
			{LinkOptions: extract.LinkOptions{Allow: []string{"/quotes/page/"}}},
		}}.Leg()}},
		{Name: "drops", Parse: gives(&crawl.Drop{Reason: "dull"})},
		{Name: "hears", Parse: tells, Callbacks: map[string]spider.Callback{"lost": followsLost}, Errbacks: map[string]spider.Errback{"sorry": tellsFailure}},
	}
	p.Pipeline = func(project.Env) ([]pipeline.Step, error) {
		return []pipeline.Step{pipelines.RequireFields("arg")}, nil
	}
	return p
}

// keeps is a spider whose contracts hold.
func keeps(site string) spider.Spider {
	return spider.Spider{Name: "keeps", Parse: tells, Contracts: []spider.Contract{
		{URL: site + "/p/0", Items: spider.Exactly(1), Requests: spider.AtLeast(2), Scrapes: []string{"status"}},
		{URL: site + "/p/0", Args: map[string]string{"arg": "1"}, Scrapes: []string{"arg"}},
		{URL: site + "/p/1", Meta: crawl.Values{"m": 1}, CBKwargs: crawl.Values{"k": 2}, Scrapes: []string{"meta", "kwargs"}},
		{URL: site + "/redirect/302", Check: func(page *spider.Page, _ []crawl.Item, _ []*crawl.Request) error {
			if page.Status != 200 || len(page.Request.RedirectURLs) != 1 {
				return errors.New("the redirect was not followed")
			}
			return nil
		}},
	}}
}

// breaks is a spider whose contracts do not hold.
func breaks(site string) spider.Spider {
	return spider.Spider{
		Name: "breaks", Parse: tells,
		Callbacks: map[string]spider.Callback{
			"fails":  gives(errors.New("no price on the page")),
			"panics": func(context.Context, *spider.Page, *spider.Output) error { panic("out of paper") },
			"strays": func(_ context.Context, _ *spider.Page, out *spider.Output) error {
				out.Follow("/p/2", "nowhere")
				return nil
			},
		},
		Contracts: []spider.Contract{
			{URL: site + "/p/0", Items: spider.Exactly(0)},
			{URL: site + "/p/1", Requests: spider.Between(3, 4), Scrapes: []string{"status", "arg"}},
			{URL: site + "/p/2", Callback: "fails"},
			{URL: site + "/p/3", Callback: "panics"},
			{URL: site + "/p/none"},
			{URL: "http://127.0.0.1:1/"},
			{URL: site + "/p/4", Callback: "strays", Check: func(*spider.Page, []crawl.Item, []*crawl.Request) error {
				return errors.New("two\nlines")
			}},
		},
	}
}

// gives is a callback that gives an item and then fails.
func gives(err error) spider.Callback {
	return func(_ context.Context, _ *spider.Page, out *spider.Output) error {
		out.Item(map[string]string{"kept": "yes"})
		return err
	}
}

// tells gives an item that says how its page was asked for.
func tells(_ context.Context, page *spider.Page, out *spider.Output) error {
	item := map[string]any{"status": page.Status, "meta": page.Request.Meta, "kwargs": page.Request.CBKwargs}
	if arg := page.Args["arg"]; arg != "" {
		item["arg"] = arg
	}
	out.Item(item)
	out.Follow("http://elsewhere.example/", "")
	out.Follow("/p/1", "")
	return nil
}

// followsLost asks for a page that nothing answers.
func followsLost(_ context.Context, _ *spider.Page, out *spider.Output) error {
	out.Request(&crawl.Request{URL: "http://127.0.0.1:1/", Errback: "sorry", Options: crawl.Options{DontRetry: true}})
	return nil
}

func tellsFailure(_ context.Context, page *spider.Page, out *spider.Output) error {
	var failure *crawl.Failure
	if !errors.As(page.Failure, &failure) {
		return errors.New("no failure to hear of")
	}
	out.Item(map[string]string{"failed": failure.Reason})
	return nil
}
