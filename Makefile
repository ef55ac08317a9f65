# gangline: `make demo` shows it, `make test` tests it. Both make their own environment in .venv.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
DEV    := $(VENV)/.ready-dev
KUBECTL := .cache/bin/kubectl
GO_FLAGS := -trimpath -ldflags "-s -w -X k8s.io/component-base/version.gitVersion=v1.35.8"

.PHONY: help demo up test fuzz properties test-real real schedulers releases helm lint bench conformance kubectl crds chart olm docs docs-site browser prometheus pictures clean

help: ## what can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

$(READY): pyproject.toml
	@echo "making the environment in $(VENV) …"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install -q --disable-pip-version-check -e .
	@touch $@

$(DEV): pyproject.toml
	@echo "making the development environment in $(VENV) …"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install -q --disable-pip-version-check -e '.[dev]'
	@touch $@ $(READY)

demo: $(READY) ## start everything, play six scenes, stop (≤ 60 s)
	@$(BIN)/gangline demo

up: $(READY) ## start the platform and keep it running
	@$(BIN)/gangline up

test: $(DEV) ## all tests that need nothing but Python; TESTS=tests/… for some of them
	@PYTHONDONTWRITEBYTECODE= $(BIN)/pytest $(if $(TESTS),-n 0 $(TESTS),-n 3 --dist worksteal tests)  # for two cores: some wait. They start many processes: none should compile everything anew

fuzz: $(DEV) ## INPUTS=100000 SEED=1 FIRST=0: ask the server odd things, as many as one likes; a failing one is printed with how to ask it again
	@FUZZ_INPUTS=$(or $(INPUTS),100000) FUZZ_SEED=$(or $(SEED),1) FUZZ_FIRST=$(or $(FIRST),0) $(BIN)/pytest -n 0 -rP --timeout 0 -o faulthandler_timeout=0 tests/fuzz $(ARGS)

properties: $(DEV) ## SECONDS=120 SEED=7: the property tests with fresh random input, for a time; a failing seed is printed with how to try it again
	@$(BIN)/python tests/properties/search.py --seconds $(or $(SECONDS),120) $(addprefix --seed ,$(SEED)) $(ARGS)

lint: $(DEV) ## ruff, mypy, import contracts
	@$(BIN)/ruff check src tests bench
	@$(BIN)/ruff format --check -q src tests bench
	@$(BIN)/mypy
	@$(BIN)/lint-imports

BENCHES := $(sort $(basename $(notdir $(wildcard bench/[a-z]*.py))) $(notdir $(patsubst %/__main__.py,%,$(wildcard bench/*/__main__.py))))
bench: $(DEV) ## BENCH=core|crowds|decisions|apiserver|connections|e2e|league|operator|backends|world|dashboard|truth|whatif|cli|recorder, one JSON line per scenario
	@set -e; for each in $(or $(BENCH),$(BENCHES)); do \
		if [ -d bench/$$each ]; then $(BIN)/python bench/$$each $(ARGS); else $(BIN)/python bench/$$each.py $(ARGS); fi; done

conformance: $(DEV) ## SUITE=kai-core|apiserver|kai-services|grove CASES=folder: replay recorded upstream behaviour; without any, it ends with 5 (ARGS=--allow-nothing: with 0)
	@$(BIN)/python tests/conformance $(addprefix --suite ,$(SUITE)) $(addprefix --cases ,$(CASES)) $(ARGS)

REAL := $(addprefix .cache/bin/,etcd kube-apiserver kube-controller-manager kube-scheduler kubectl)

kubectl: $(KUBECTL) ## build a real kubectl from the Go module registry, for the tests
real: $(REAL) ## build a whole real control plane from the Go module registry (about 8 minutes the first time)

.cache/bin/etcd: PACKAGE = go.etcd.io/etcd/server/v3
.cache/bin/kube%: PACKAGE = k8s.io/kubernetes/cmd/$(notdir $@)
$(REAL): tests/real/go.mod
	@command -v go >/dev/null || { echo "$(notdir $@): Go is not installed; tests that need it use the one on PATH or skip"; exit 1; }
	@echo "building $(notdir $@) from the Go module registry …"
	@mkdir -p $(dir $@)
	@cd tests/real && CGO_ENABLED=0 go build $(GO_FLAGS) -o ../../$@ $(PACKAGE)
	@touch $@

HELM := .cache/bin/helm
helm: $(HELM) ## build a real helm from the Go module registry, for the chart's tests (about a minute after `make real`)
$(HELM): tests/real/helm/go.mod
	@command -v go >/dev/null || { echo "helm: Go is not installed; tests that need it use the one on PATH or skip"; exit 1; }
	@echo "building helm from the Go module registry …"
	@mkdir -p $(dir $@)
	@cd tests/real/helm && version=$$(go list -m -f '{{.Version}}' helm.sh/helm/v3) && CGO_ENABLED=0 go build -trimpath \
		-ldflags "-s -w -X helm.sh/helm/v3/internal/version.version=$$version" -o ../../../$@ helm.sh/helm/v3/cmd/helm
	@touch $@

# Other schedulers, each built from a Go module of its own on demand: `make test-real SCHEDULERS=volcano,coscheduling`
comma := ,
THIRD_PARTY := volcano coscheduling yunikorn koordinator kueue
ASKED := $(filter-out default,$(subst $(comma), ,$(SCHEDULERS)))
$(if $(filter-out $(THIRD_PARTY),$(ASKED)),$(error no scheduler is called $(filter-out $(THIRD_PARTY),$(ASKED)); there are: default $(THIRD_PARTY)))
volcano_PROGRAMS := volcano-scheduler volcano-controllers
coscheduling_PROGRAMS := coscheduling-scheduler coscheduling-controller
yunikorn_PROGRAMS := yunikorn-scheduler
koordinator_PROGRAMS := koordinator-scheduler
kueue_PROGRAMS := kueue-controller
.cache/bin/volcano-scheduler: PACKAGE = volcano.sh/volcano/cmd/scheduler
.cache/bin/volcano-controllers: PACKAGE = volcano.sh/volcano/cmd/controller-manager
.cache/bin/coscheduling-scheduler: PACKAGE = sigs.k8s.io/scheduler-plugins/cmd/scheduler
.cache/bin/coscheduling-controller: PACKAGE = sigs.k8s.io/scheduler-plugins/cmd/controller
.cache/bin/yunikorn-scheduler: PACKAGE = github.com/apache/yunikorn-k8shim/pkg/cmd/shim
.cache/bin/koordinator-scheduler: PACKAGE = github.com/koordinator-sh/koordinator/cmd/koord-scheduler
.cache/bin/kueue-controller: PACKAGE = sigs.k8s.io/kueue/cmd/kueue

schedulers: $(foreach each,$(ASKED),$(addprefix .cache/bin/,$($(each)_PROGRAMS))) ## SCHEDULERS=volcano,…: build third-party schedulers (about 6 minutes each)

define scheduler
$(addprefix .cache/bin/,$($(1)_PROGRAMS)): tests/real/schedulers/$(1)/go.mod
	@echo "building $$(notdir $$@) from the Go module registry …"
	@mkdir -p $$(dir $$@)
	@cd tests/real/schedulers/$(1) && CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o ../../../../$$@ $$(PACKAGE)
	@touch $$@
endef
$(foreach each,$(THIRD_PARTY),$(eval $(call scheduler,$(each))))

# Newer releases of Kubernetes, each built from a Go module of its own on demand: `make test-real RELEASES=1.36,1.37`
NEWER := $(notdir $(wildcard tests/real/kubernetes/*))
WANTED := $(subst $(comma), ,$(RELEASES))
$(if $(filter-out $(NEWER),$(WANTED)),$(error no release of Kubernetes is called $(filter-out $(NEWER),$(WANTED)); there are: $(NEWER)))

define release
$(addprefix .cache/kubernetes/$(1)/,kube-apiserver kube-controller-manager kube-scheduler): tests/real/kubernetes/$(1)/go.mod
	@echo "building $$(notdir $$@) of Kubernetes $(1) from the Go module registry …"
	@mkdir -p $$(dir $$@)
	@cd tests/real/kubernetes/$(1) && version=$$$$(go list -m -f '{{.Version}}' k8s.io/kubernetes) && CGO_ENABLED=0 go build -trimpath \
		-ldflags "-s -w $(foreach part,gitVersion=$$$$version gitMajor=$(word 1,$(subst ., ,$(1))) gitMinor=$(word 2,$(subst ., ,$(1))),-X k8s.io/component-base/version.$(part))" \
		-o ../../../../$$@ k8s.io/kubernetes/cmd/$$(notdir $$@)
	@touch $$@
endef
$(foreach each,$(NEWER),$(eval $(call release,$(each))))

releases: $(foreach each,$(WANTED),$(addprefix .cache/kubernetes/$(each)/,kube-apiserver kube-controller-manager kube-scheduler)) ## RELEASES=1.36,…: build newer releases of Kubernetes (about 7 minutes each)

# Built where it can be: not beside programs of KUBEBUILDER_ASSETS, and not without Go. What is then missing is said in one line.
PLANE := $(if $(KUBEBUILDER_ASSETS),,$(if $(shell command -v go),$(REAL)))
SMOKE := tests/journeys/test_skeleton.py tests/journeys/test_kubectl.py
ALL := tests/journeys tests/truth/test_matrix.py $(addprefix tests/cluster/world/test_,slice.py controllers.py kubelet.py claims.py groups.py)

PROOFS := $(strip $(if $(RELEASES),tests/real/test_releases.py tests/cluster/world/test_groups.py) $(if $(RELEASES)$(SCHEDULERS),tests/real/test_backends.py))

test-real: $(DEV) $(PLANE) schedulers releases $(if $(FULL),$(if $(PLANE),$(HELM))) ## differences, real programs and journeys on a real control plane; FULL=1 for all journeys, the world's own controllers and the chart's releases, SCHEDULERS=volcano,… for the proof of those backends alone, RELEASES=1.36,… for the Workload API of those alone
	@why=$$(PYTHONPATH=tests $(BIN)/python -m real.plane); if [ -n "$$why" ]; then echo "skipped: $$why"; exit 0; fi; \
	why=$(if $(PROOFS),,$$(PYTHONPATH=tests $(BIN)/python -m real.chart)); if [ -n "$$why" ]; then echo "skipped: releases of the chart: $$why"; fi; \
	GANGLINE_REAL=1 GANGLINE_SERVER=real GANGLINE_SCHEDULERS=$(SCHEDULERS) GANGLINE_RELEASES=$(RELEASES) $(BIN)/pytest \
		$(or $(PROOFS),tests/real $(if $(FULL),$(ALL),$(SMOKE))) $(ARGS)

crds: $(DEV) ## print the CRDs anew into charts/gangline/crds
	@$(BIN)/python -m gangline.api.crds charts/gangline/crds

chart: crds ## print the Helm chart anew into charts/gangline
	@$(BIN)/python -m gangline.cli.deploy.chart charts/gangline

olm: $(READY) ## IMAGE=…: print a bundle for the Operator Lifecycle Manager into dist/olm
	@test -n "$(IMAGE)" || { echo "say which image: make olm IMAGE=registry/gangline:0.1.0"; exit 1; }
	@rm -rf dist/olm && $(BIN)/python -m gangline.cli.deploy.olm dist/olm $(IMAGE) && echo dist/olm

docs: $(DEV) ## print anew what pages say of the code
	@$(BIN)/python tests/compat_table.py
	@PYTHONPATH=tests $(BIN)/python tests/backends_table.py
	@PYTHONPATH=tests $(BIN)/python tests/rooms_picture.py
	@PYTHONPATH=tests $(BIN)/python -m real.differences_table
	@PYTHONPATH=tests $(BIN)/python -m truth.page
	@$(BIN)/python bench/league --page docs/league.md --results bench/league/results.jsonl
	@PYTHONPATH=tests $(BIN)/python -m documents.reference
	@PYTHONPATH=tests $(BIN)/python -m documents.pictures

SITE := .cache/docs-venv/bin/mkdocs
$(SITE): pyproject.toml
	@test -x $@ || $(PYTHON) -m venv .cache/docs-venv
	@.cache/docs-venv/bin/pip install -q --disable-pip-version-check 'mkdocs-material>=9.5'
	@touch $@

docs-site: $(SITE) ## make a site of the documents in .cache/site; a dead link fails it
	@NO_MKDOCS_2_WARNING=1 $(SITE) build -q --strict
	@echo ".cache/site/index.html"

browser: $(DEV) ## Playwright, a Chromium and axe-core, for the tests of the page in a browser (they are skipped without)
	@tests/browser/install.sh

prometheus: ## a real Prometheus and promtool, for the tests of metrics and alert rules (they are skipped without)
	@tests/documents/prometheus.sh

pictures: $(DEV) ## take the pictures of the page anew, light and dark (needs a Chromium)
	@PYTHONPATH=tests $(BIN)/python tests/page_picture.py

clean: ## remove what make made
	rm -rf $(VENV) .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis
