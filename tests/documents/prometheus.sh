#!/usr/bin/env bash
# `make prometheus`: a real Prometheus and promtool into .cache/bin, for the tests of metrics and alert rules.
# Takes those on the path; else unpacks Debian's package, which needs no rights. Says what it could not get, and then ends with 1.
set -uo pipefail
cd "$(dirname "$0")/../.."
mkdir -p .cache/bin
has() { [ -x ".cache/bin/$1" ] || command -v "$1" >/dev/null; }
if has prometheus && has promtool; then
    echo "prometheus: there already"
    exit 0
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
if command -v apt-get >/dev/null && command -v dpkg >/dev/null &&
    (cd "$folder" && { apt-get download -q prometheus || { apt-get update -q && apt-get download -q prometheus; }; }) >/dev/null 2>&1 &&
    dpkg -x "$folder"/prometheus_*.deb "$folder/unpacked"; then
    cp "$folder"/unpacked/usr/bin/prometheus "$folder"/unpacked/usr/bin/promtool .cache/bin/
    echo "prometheus: .cache/bin/prometheus, .cache/bin/promtool"
else
    echo "prometheus: Debian's package could not be had; put prometheus and promtool on PATH, or the tests that need them are skipped"
    exit 1
fi
