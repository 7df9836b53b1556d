// Package spiders is the folder that you edit: your spiders, and here the lists
// of what stands round them. The order of a list is the order in which its
// parts run; to switch a part off, change its setting or take it out.
package spiders

import (
	"embed"

	"github.com/skitterhq/skitter/shared/crawl"
	"github.com/skitterhq/skitter/shared/downloader"
	"github.com/skitterhq/skitter/shared/downloadermw"
	"github.com/skitterhq/skitter/shared/extension"
	"github.com/skitterhq/skitter/shared/extensions"
	"github.com/skitterhq/skitter/shared/pipeline"
	"github.com/skitterhq/skitter/shared/project"
	"github.com/skitterhq/skitter/shared/spider"
	"github.com/skitterhq/skitter/shared/spidermw"
	"github.com/skitterhq/skitter/spiders/quotes"
	"github.com/skitterhq/skitter/spiders/shop"
)

// definitions are the YAML spiders, shop.yaml for one of the name shop. The
// pattern takes what else lies here, too, since one that finds no file, as
// *.yaml does where there is none, does not compile.
//
//go:embed *.*
var definitions embed.FS

// Project is all that the programs read of this folder.
func Project() project.Project {
	return project.Project{
		Name: "default",
		Spiders: []spider.Spider{
			quotes.Spider(),
			shop.Spider(),
		},
		Definitions:           definitions,
		SpiderMiddlewares:     spiderMiddlewares,
		DownloaderMiddlewares: downloaderMiddlewares,
		Scope:                 scope,
		Pipeline:              steps,
		Extensions:            listeners,
	}
}

// spiderMiddlewares stand between the engine and the spider, the nearest to the
// engine first.
func spiderMiddlewares(env project.Env) ([]spider.Middleware, error) {
	return []spider.Middleware{
		spidermw.Start(),
		spidermw.HTTPError(env.Settings, env.Stats, env.Log),
		spidermw.Referer(env.Settings, env.Log),
		spidermw.Cookies(env.Settings),
		spidermw.URLLength(env.Settings, env.Stats, env.Log),
		spidermw.Depth(env.Settings, env.Stats, env.Log),
	}, nil
}

// downloaderMiddlewares stand between the engine and the web, the nearest to
// the engine first.
func downloaderMiddlewares(env project.Env) ([]downloader.Middleware, error) {
	offsite, err := downloadermw.Offsite(env.Spider.AllowedDomains, env.Stats, env.Log)
	if err != nil {
		return nil, err
	}
	auth, err := downloadermw.HTTPAuth(env.Settings)
	if err != nil {
		return nil, err
	}
	proxy, err := downloadermw.HTTPProxy(env.Settings, downloadermw.HTTPProxyOptions{}, env.Stats, env.Log, env.Proxies)
	if err != nil {
		return nil, err
	}
	redirects := downloadermw.RedirectOptions{
		HandleStatusList: env.Spider.HandleStatusList,
		Referer:          spidermw.RedirectReferer(env.Settings, env.Log),
	}
	cache, err := downloadermw.HTTPCache(env.Settings, env.Stats, env.Log, env.Blobs, env.Now)
	if err != nil {
		return nil, err
	}
	return []downloader.Middleware{
		offsite,
		downloadermw.Retry(env.Settings, env.Stats, env.Log, env.Now),
		env.Robots.Middleware(env.Settings, env.Stats, env.Log),
		auth,
		downloadermw.DownloadTimeout(env.Settings),
		downloadermw.DefaultHeaders(env.Settings),
		downloadermw.UserAgent(env.Settings, env.Job.UID),
		downloadermw.MetaRefresh(env.Settings, redirects, env.Log),
		downloadermw.HTTPCompression(env.Settings, env.Stats, env.Log, env.Decoders),
		downloadermw.Redirect(env.Settings, redirects, env.Log),
		downloadermw.Cookies(env.Settings, env.Stats, env.Log, env.Now),
		proxy,
		downloadermw.DownloaderStats(env.Settings, env.Stats),
		cache,
	}, nil
}

// scope refuses requests before any work is made of them.
func scope(env project.Env) (func(*crawl.Request) error, error) {
	return downloadermw.OffsiteFilter(env.Spider.AllowedDomains, env.Stats, env.Log)
}

// listeners hear what happens, and may close the job.
func listeners(env project.Env) ([]extension.Extension, error) {
	list := []extension.Extension{
		extensions.CloseSpider(env.Settings, env.Now),
	}
	if !env.ShowsProgress {
		list = append(list, extensions.LogStats(env.Settings, env.Log, env.Now))
	}
	return list, nil
}

// steps are what each item takes on its way to its rest.
func steps(project.Env) ([]pipeline.Step, error) {
	return []pipeline.Step{}, nil
}
