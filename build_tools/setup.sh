#!/bin/sh
# Find a Python 3.13, or fetch one, and hand over to setup.py.
#
#   sh build_tools/setup.sh serve|test|quality
#   PYTHON=/path/to/python3.13 sh build_tools/setup.sh serve
#
# Build and browser run the same minor version (see pyproject.toml), so it must be 3.13.
set -u
unset CDPATH
cd "$(dirname "$0")/.." || exit 1
root=$(pwd)
log=$root/.cache/python.log

say() { printf 'set-up: %s\n' "$*"; }

stop() {
  printf 'set-up stopped: %s\n' "$*" >&2
  exit 1
}

# Is $1 a Python 3.13 that can make a virtual environment? (Debian splits ensurepip off; a pyenv
# shim is on PATH even where no version stands behind it.)
fits() {
  [ -x "$1" ] &&
    "$1" -I -c 'import sys, venv, ensurepip; sys.exit(sys.version_info[:2] != (3, 13))' \
      >/dev/null 2>&1
}

# Every program called $1 on PATH: the first one found may be broken.
each_called() {
  (
    IFS=:
    set -f
    for dir in $PATH; do
      [ -n "$dir" ] && [ -x "$dir/$1" ] && printf '%s\n' "$dir/$1"
    done
  )
}

# The Pythons of pyenv whose version matches $1.
each_pyenv() {
  for bin in "${PYENV_ROOT:-${HOME:-/nonexistent}/.pyenv}"/versions/$1/bin/python3; do
    [ -x "$bin" ] && printf '%s\n' "$bin"
  done
}

# Print the first line of standard input that fits.
first_fit() {
  while IFS= read -r candidate; do
    if fits "$candidate"; then
      printf '%s\n' "$candidate"
      return 0
    fi
  done
  return 1
}

find_python() {
  { each_called python3.13; each_pyenv '3.13*'; each_called python3; } | first_fit && return 0
  # Those that uv fetched before, for us or for the user.
  for uv in "$(command -v uv)" "$root/.cache/uv/bin/uv"; do
    [ -x "$uv" ] || continue
    UV_PYTHON_DOWNLOADS=never "$uv" python find 3.13 2>/dev/null | first_fit && return 0
    UV_PYTHON_DOWNLOADS=never UV_PYTHON_INSTALL_DIR=$root/.cache/python \
      "$uv" python find 3.13 2>/dev/null | first_fit && return 0
  done
  return 1
}

# Print the path of a uv that runs: the user's own, or one installed by any Python into .cache/uv.
get_uv() {
  for uv in "$(command -v uv)" "$root/.cache/uv/bin/uv"; do
    [ -x "$uv" ] && "$uv" --version >/dev/null 2>&1 && printf '%s\n' "$uv" && return 0
  done
  # The version and the hashes that the lock has.
  sed -n '/^uv==/,/[^\\]$/p' requirements-test.txt >.cache/uv.txt
  { each_called python3; each_pyenv '3.*'; } | while IFS= read -r any; do
    "$any" -I -c 'import sys; sys.exit(sys.version_info < (3, 8))' >>"$log" 2>&1 || continue
    rm -rf .cache/uv
    # Some Pythons lack pip, some lack venv.
    "$any" -I -m pip install -q --no-input --disable-pip-version-check --require-hashes \
      --target .cache/uv -r .cache/uv.txt </dev/null >>"$log" 2>&1 ||
      { rm -rf .cache/uv && "$any" -I -m venv .cache/uv &&
        .cache/uv/bin/python -m pip install -q --no-input --disable-pip-version-check \
          --require-hashes -r .cache/uv.txt; } </dev/null >>"$log" 2>&1 || continue
    [ -x .cache/uv/bin/uv ] && printf '%s\n' "$root/.cache/uv/bin/uv" && break
  done | grep .
}

# Let uv download a Python 3.13 into this checkout.
fetch_python() {
  mkdir -p .cache && : >"$log"
  say 'no Python 3.13 here; fetching one with uv' >&2
  if uv=$(get_uv); then
    UV_PYTHON_INSTALL_DIR=$root/.cache/python
    UV_PYTHON_PREFERENCE=only-managed
    UV_PYTHON_INSTALL_BIN=0 # Nothing outside this folder.
    export UV_PYTHON_INSTALL_DIR UV_PYTHON_PREFERENCE UV_PYTHON_INSTALL_BIN
    "$uv" python install 3.13 </dev/null >>"$log" 2>&1 &&
      "$uv" python find 3.13 2>>"$log" | first_fit && return 0
    reason='uv could not download one'
  else
    reason='uv, which could fetch one, could not be installed either'
  fi
  stop "Python 3.13 is needed, none was found, and $reason (details: .cache/python.log)." \
    'Install Python 3.13 with venv (by pyenv, or from your system), or name one' \
    '(PYTHON=/path/to/python3.13 make serve), then run this again.'
}

if [ -n "${PYTHON:-}" ]; then
  python=$(command -v "$PYTHON")
  fits "$python" || stop "PYTHON is set to $PYTHON, which is not a working Python 3.13 with venv." \
    'Correct or unset it, then run this again.'
elif fits .venv/bin/python; then
  python=.venv/bin/python
else
  python=$(find_python) || python=$(fetch_python) || exit 1
fi

exec "$python" -I build_tools/setup.py "$@"
