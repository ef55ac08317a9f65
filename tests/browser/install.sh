#!/usr/bin/env bash
# `make browser`: what the tests in tests/browser need: Playwright, a Chromium, and axe-core, which finds barriers.
# Takes what is there; else asks the package clients at hand. Says what it could not get, and then ends with 1.
set -uo pipefail
cd "$(dirname "$0")/../.."
bin=.venv/bin
missing=0

"$bin/pip" install -q --disable-pip-version-check -e '.[browser]' || { echo "browser: Playwright could not be installed from PyPI"; exit 1; }

has_chromium() { PYTHONPATH=tests "$bin/python" -m browser.chromium >/dev/null 2>&1; }
has_chromium || timeout 300 "$bin/playwright" install chromium >/dev/null 2>&1
if ! has_chromium && command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    timeout 300 apt-get install -y -q chromium >/dev/null 2>&1 ||
        { timeout 120 apt-get update -q >/dev/null 2>&1 && timeout 300 apt-get install -y -q chromium >/dev/null 2>&1; }
fi
if has_chromium; then
    echo "browser: $(PYTHONPATH=tests "$bin/python" -m browser.chromium)"
else
    echo "browser: no Chromium could be installed (playwright install chromium, apt-get install chromium); name one with CHROMIUM=PATH"
    missing=1
fi

axe=.cache/browser/axe.min.js
if [ ! -s "$axe" ]; then
    mkdir -p "$(dirname "$axe")"
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    if (cd "$folder" && npm pack --silent axe-core@4.10.2 >/dev/null 2>&1 && tar xzf axe-core-*.tgz package/axe.min.js); then
        mv "$folder/package/axe.min.js" "$axe"
    else
        echo "browser: axe-core could not be fetched from npm; tests that look for barriers are skipped"
        missing=1
    fi
fi
exit "$missing"
