# The one door to everything: `make` alone prints the targets.

GO      ?= go
PAGES   ?= 1200
ADDR    ?= 127.0.0.1:0
BIN     := bin/skitter
# The built-in site is on this machine and ours, so it is crawled at full speed.
FAST    := -s DOWNLOAD_DELAY=0 -s CONCURRENT_REQUESTS_PER_DOMAIN=16
# The race detector makes SQLite in Go too slow to compile and run, so the
# packages over it run without. Packages engine, extract and legs run both ways:
# in part with it, whole without.
RACED    = $(shell $(GO) list ./... | grep -v -e /shared/local -e /shared/assembly -e /cmd/)
UNRACED  = ./shared/engine ./shared/extract/... ./shared/legs ./shared/local/... ./shared/assembly/... ./cmd/...
LINT    := $(GO) tool -modfile=tools/go.mod golangci-lint

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@awk -F':.*## ' '/^[a-z\/-]+:.*## / { printf "%-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## build the command line into bin/
	$(GO) build -trimpath -o $(BIN) ./cmd/skitter

FUNCTIONS := control fetch parse pipeline
DIST      ?= dist
ARCH      ?= $(shell $(GO) env GOARCH)

# lambda.norpc leaves out what only the old go1.x runtime needs; without
# -buildvcs=false each commit would give other binaries, and a deployment would
# replace all functions.
.PHONY: dist
dist: ## build the four functions for this machine into dist/ (ARCH=arm64: for Lambda)
	@for f in $(FUNCTIONS); do \
		CGO_ENABLED=0 GOOS=linux GOARCH=$(ARCH) $(GO) build -tags lambda.norpc -trimpath -buildvcs=false -ldflags "-s -w" -o $(DIST)/$$f/bootstrap ./functions/$$f || exit 1; \
		if [ -f skitter.yaml ]; then cp skitter.yaml $(DIST)/$$f/; fi; \
	done

.PHONY: crawl
crawl: build ## crawl the built-in shop into out/shop.jsonl
	@./scripts/crawl-shop $(BIN) $(PAGES) $(ADDR) $(FAST)

.PHONY: test
test: ## run all tests
	@./localstack/install --missing
	$(GO) test -race -short $(RACED)
	$(GO) test $(UNRACED)
	@$(GO) test -count=1 -v -run '^TestSaysWhatIsLeftOut$$' ./shared/aws/emulatortest | grep '^left out:' || true

.PHONY: test/cases
test/cases: ## run the reported cases whole: 100,000 hosts, 100,000 seeds (minutes)
	$(GO) test -count=1 -timeout 30m ./shared/casetest

.PHONY: test/crash
test/crash: ## crash a crawl at 10,000 random pairs of port calls (minutes)
	SKITTER_PAIRS=10000 $(GO) test -count=1 -timeout 60m -run 'TestCrash' -v ./shared/engine | grep -e 'points reached' -e '^---' -e '^ok'

# go test fuzzes one function of one package at a time.
FUZZTIME ?= 60s
.PHONY: fuzz
fuzz: ## run each fuzz test for FUZZTIME (60s: half an hour in all)
	@grep -roE '^func Fuzz[A-Za-z0-9]+' --include='*_test.go' shared | sort | while IFS=: read -r file name; do \
		echo "$${file%/*} $${name#func }"; \
		$(GO) test -run '^$$' -fuzz "^$${name#func }$$" -fuzztime $(FUZZTIME) ./$${file%/*} || exit 1; \
	done

.PHONY: emulators
emulators: ## install moto and dynalite for the tests, in .emulators/
	@./localstack/install

.PHONY: test/aws
test/aws: ## run the AWS adapters' tests over moto and dynalite, too (minutes)
	$(GO) test -count=1 -timeout 30m ./shared/aws/... ./shared/sqspoll

.PHONY: test/crash/aws
test/crash/aws: ## crash a crawl at every call to AWS (minutes)
	SKITTER_AWS_CRASH=all $(GO) test -count=1 -timeout 60m -run 'TestCrash|TestItemsOutlive' -v ./shared/aws | grep -e 'points reached' -e '^---' -e '^ok'

.PHONY: lint
lint: ## check format and common mistakes
	@unformatted=$$(gofmt -l cmd events functions shared spiders); if [ -n "$$unformatted" ]; then echo "not gofmt'ed: $$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(LINT) run ./...

.PHONY: bench
bench: ## measure CPU a page beside Colly and Scrapy (needs ../shared/bench)
	@./scripts/bench $(PAGES)

.PHONY: bench/aws
bench/aws: build ## measure CPU and billed units a page, AWS's answers in memory
	@./scripts/bench-aws $(PAGES)

.PHONY: bench/downloader
bench/downloader: ## measure CPU a request of the downloader beside a bare RoundTrip
	$(GO) test ./shared/assembly -run XXX -bench Downloader -benchtime 100000x

# The CDK command line runs no Go: it takes what synth has written and checked.
# Options of the stack go with each of them: CONTEXT="-c stage=prod -c …".
CONTEXT  ?=
APPROVAL ?= broadening
CDK      := CDK_DISABLE_CLI_TELEMETRY=true node_modules/.bin/cdk

.PHONY: synth
synth: ## write the CloudFormation template of the stack into infra/cdk.out
	@$(MAKE) --no-print-directory dist ARCH=arm64 DIST=dist-arm64
	@rm -rf infra/cdk.out
	cd infra && $(GO) run . -dist ../dist-arm64 -out cdk.out $(CONTEXT)

infra/node_modules: infra/package-lock.json
	npm ci --prefix infra --no-audit --no-fund
	@touch $@

.PHONY: diff
diff: synth infra/node_modules ## show what deploy would change on AWS
	cd infra && $(CDK) diff --app cdk.out --no-notices

.PHONY: deploy
deploy: synth infra/node_modules ## deploy the stack to AWS (docs/deploy.md)
	cd infra && $(CDK) deploy --app cdk.out --no-notices --require-approval $(APPROVAL)

.PHONY: destroy
destroy: synth infra/node_modules ## remove the stack from AWS (docs/deploy.md)
	cd infra && $(CDK) destroy --app cdk.out --no-notices

.PHONY: test/infra
test/infra: infra/node_modules ## test the stack, and deploy it to moto where there is one
	cd infra && $(GO) vet ./... && $(GO) test -count=1 ./...

.PHONY: infra/golden
infra/golden: ## write the stack's golden templates anew
	cd infra && $(GO) test ./stack -run TestGolden -update

.PHONY: clean
clean: ## remove what was built and crawled
	rm -rf bin out dist dist-arm64 infra/cdk.out
