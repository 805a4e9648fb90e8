# Sourced by ./dev. Installs what is missing and only that: Debian packages for the toolchain, a
# virtual environment in .venv for Python's. With everything there it needs no network.
# FUSELET_OFFLINE=1 installs nothing and uses what is there.
#
# Sets JOBS (parallel compiles), PYTHON (the interpreter) and CLANG_FORMAT.

PYTHON_MODULES=(pybind11 numpy safetensors tqdm pytest)
DOCS_MODULES=(sphinx furo myst_parser)
# Another major version may warn about what this one takes, and a warning fails the site.
DOCS_PACKAGES=("sphinx>=8.2,<10" furo "myst-parser>=4,<6")

# A compile of the heaviest files takes about 1.5 GB.
job_count() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/MemAvailable/ {print int($2 / 1572864)}' /proc/meminfo)
  ((memory >= 1)) || memory=1
  echo $((cores < memory ? cores : memory))
}
JOBS="${FUSELET_JOBS:-$(job_count)}"

has_header() {
  local directory
  for directory in .cache/include /usr/include /usr/local/include; do
    if [[ -e "$directory/$1" ]]; then return 0; fi
  done
  return 1
}

# The system's interpreter, whose headers Debian ships; any other python3 if that one is too old.
system_python() {
  local candidate
  for candidate in /usr/bin/python3 python3; do
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      command -v "$candidate"
      return 0
    fi
  done
  return 1
}

python_has_headers() {
  "$1" -c 'import os, sys, sysconfig
sys.exit(not os.path.exists(os.path.join(sysconfig.get_paths()["include"], "Python.h")))' 2>/dev/null
}

# python_has MODULE…: whether $PYTHON finds each of them.
python_has() {
  "$PYTHON" -c 'import importlib.util, sys
sys.exit(any(importlib.util.find_spec(name) is None for name in sys.argv[1:]))' "$@" 2>/dev/null
}

# apt_install PACKAGE…: quiet; shows its log and returns 1 when it fails.
apt_install() {
  [[ "${FUSELET_OFFLINE:-0}" != 1 ]] && command -v apt-get >/dev/null || return 1
  local as_root=() log status=0
  if (($(id -u) != 0)); then
    command -v sudo >/dev/null || return 1
    as_root=(sudo)
  fi
  log=$(mktemp)
  echo "dev: installing $*" >&2
  as_root+=(env DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o DPkg::Lock::Timeout=120
    -o Acquire::Retries=2)
  { "${as_root[@]}" update && "${as_root[@]}" install --no-install-recommends "$@"; } \
    >"$log" 2>&1 || status=1
  if ((status)); then tail -n 20 "$log" >&2; fi
  rm -f "$log"
  return $status
}

setup_toolchain() {
  local missing=() optional=() python
  command -v g++ >/dev/null || missing+=(g++)
  command -v cmake >/dev/null || missing+=(cmake)
  command -v ninja >/dev/null || missing+=(ninja-build)
  has_header doctest/doctest.h || missing+=(doctest-dev)
  python=$(system_python) || missing+=(python3)
  if [[ -n "$python" && ! -x .venv/bin/python ]]; then
    "$python" -c 'import ensurepip, venv' 2>/dev/null || missing+=(python3-venv)
  fi
  if [[ -n "$python" ]]; then python_has_headers "$python" || missing+=(python3-dev); fi
  if [[ -z "$python" ]]; then missing+=(python3-venv python3-dev); fi
  command -v ccache >/dev/null || optional+=(ccache)

  if ((${#missing[@]})); then
    apt_install "${missing[@]}" ${optional[@]+"${optional[@]}"} ||
      echo "dev: could not install: ${missing[*]}; going on with what is there" >&2
  fi
  local tool
  for tool in g++ cmake ninja; do
    command -v "$tool" >/dev/null || { echo "dev: $tool is needed and missing" >&2; exit 1; }
  done
}

# PYTHON: the virtual environment's interpreter, completed if need be; the system's where no
# environment can be made.
setup_python() {
  local system
  system=$(system_python) || { echo "dev: Python 3.11 or later is needed" >&2; exit 1; }
  PYTHON="$PWD/.venv/bin/python"
  if [[ -x "$PYTHON" ]] && python_has "${PYTHON_MODULES[@]}"; then return 0; fi
  if [[ "${FUSELET_OFFLINE:-0}" != 1 ]]; then
    if [[ ! -x "$PYTHON" ]] || ! "$PYTHON" -c 'import pip' 2>/dev/null; then
      echo "dev: creating .venv" >&2
      "$system" -m venv --clear .venv >&2 || true
    fi
    if [[ -x "$PYTHON" ]] && pip_install "${PYTHON_MODULES[@]}"; then return 0; fi
  fi
  # Without network, whichever interpreter has most of what is needed.
  local candidate
  for candidate in python3 "$system"; do
    PYTHON=$(command -v "$candidate") && python_has pybind11 numpy && break
    PYTHON="$system"
  done
  python_has "${PYTHON_MODULES[@]}" ||
    echo "dev: $PYTHON lacks some of: ${PYTHON_MODULES[*]}; going on without them" >&2
}

pip_install() {
  echo "dev: installing $* into .venv" >&2
  "$PYTHON" -m pip install --quiet --disable-pip-version-check --retries 2 "$@" >&2
}

# What `./dev docs` needs besides.
setup_docs() {
  if python_has "${DOCS_MODULES[@]}"; then return 0; fi
  [[ "${FUSELET_OFFLINE:-0}" != 1 ]] && pip_install "${DOCS_PACKAGES[@]}" ||
    { echo "dev: docs needs ${DOCS_PACKAGES[*]}" >&2; exit 1; }
}

# CLANG_FORMAT: version 14 and no other, because versions format differently.
setup_format() {
  local candidate
  CLANG_FORMAT=""
  for candidate in clang-format-14 clang-format "$PWD/.venv/bin/clang-format"; do
    if "$candidate" --version 2>/dev/null | grep -q 'version 14\.'; then
      CLANG_FORMAT="$candidate"
      break
    fi
  done
  if [[ -n "$CLANG_FORMAT" ]] && PYTHON=$(system_python); then return 0; fi
  setup_toolchain
  setup_python
  if [[ -z "$CLANG_FORMAT" ]]; then
    [[ "$PYTHON" == "$PWD/.venv/bin/python" ]] && pip_install clang-format==14.0.6 ||
      { echo "dev: check needs clang-format 14" >&2; exit 1; }
    CLANG_FORMAT="$PWD/.venv/bin/clang-format"
  fi
}

# OpenBLAS is the yardstick of the matmul benchmark and nothing else; it is optional.
setup_openblas() {
  compgen -G '/usr/lib/*/openblas-pthread/libopenblas.so.0' >/dev/null ||
    apt_install libopenblas0-pthread ||
    echo "dev: no OpenBLAS; its comparison is left out" >&2
}
