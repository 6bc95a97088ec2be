# The project's environment, for the other scripts to source.
#
#   ensure_env           makes .venv at the root when it is missing or stale
#   ensure_extra bench   adds what scripts/requirements-bench.lock pins
#
# The stamp in .venv is written last, so a half-made environment never counts as good. Its lines:
# the root, the interpreter and the lock (if these differ, .venv is made anew), then
# pyproject.toml (if only this differs, the project alone is installed again).

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
venv=$root/.venv
stamp_file=$venv/.forestlab-stamp

say() { printf '%s\n' "$*" >&2; }
fail() { say "error: $*"; exit 1; }

digest() {
    if command -v sha256sum >/dev/null; then sha256sum <"$1"; else shasum -a 256 <"$1"; fi
}

# Prints "Python 3.11.4", or fails with one line when the interpreter will not do.
python_version() {
    local version major minor
    version=$("$1" -V 2>/dev/null) || fail "no interpreter '$1': set PYTHON to a Python 3.11 or newer"
    IFS=' .' read -r _ major minor _ <<<"$version"
    ((major > 3 || (major == 3 && minor >= 11))) ||
        fail "$version is too old: set PYTHON to a Python 3.11 or newer"
    printf '%s' "$version"
}

require_venv_module() {
    "$1" -c 'import ensurepip, venv' 2>/dev/null ||
        fail "'$1' has no venv module: install it (python3-venv on Debian) or set PYTHON"
}

# Makes an empty environment. From the base interpreter: the one on the path may be that of the
# very .venv that is being replaced.
make_venv() {
    local python=$1 folder=$2 base output
    base=$("$python" -c 'import sys; print(sys._base_executable)')
    rm -rf "$folder"
    output=$("$base" -m venv "$folder" 2>&1) || fail "could not make a venv in $folder: ${output##*$'\n'}"
}

stopped() {
    say
    say "stopped; the next call begins anew"
    exit 130
}

# pip_install FOLDER ARGUMENTS…: at a terminal a line says what pip is at; if it fails, its last lines
# are shown. In the background a process does not hear Ctrl-C, so it is told.
pip_install() {
    local folder=$1 log pid code=0
    shift
    log=$(mktemp)
    PYTHONUNBUFFERED=1 "$folder/bin/python" -m pip install --disable-pip-version-check --no-input \
        --progress-bar off "$@" >"$log" 2>&1 &
    pid=$!
    trap 'kill "$pid" 2>/dev/null; rm -f "$log"; stopped' INT TERM
    if [[ -t 2 ]]; then watch_pip "$pid" "$log" "$folder"; fi
    wait "$pid" || code=$?
    trap stopped INT TERM
    if ((code)); then
        tail -n 15 "$log" >&2
        rm -f "$log"
        fail "pip could not install: $*"
    fi
    rm -f "$log"
}

# watch_pip PID LOG FOLDER: says every second what pip is at, until it ends.
watch_pip() {
    local pid=$1 log=$2 folder=$3 start=$SECONDS doing n all
    all=$(grep -c '==' "$root/scripts/requirements.lock")
    while kill -0 "$pid" 2>/dev/null; do
        if grep -q '^Installing collected' "$log"; then
            n=$(find "$folder"/lib/python*/site-packages -maxdepth 1 -name '*.dist-info' | wc -l)
            doing="installing, $((n)) of $all packages"
        else
            n=$(grep -cE '^(Collecting|Processing)' "$log" || true)
            doing="finding and loading, $((n)) of $all packages"
        fi
        printf '\r  pip: %s (%d s)\033[K' "$doing" $((SECONDS - start)) >&2
        sleep 1
    done
    printf '\r\033[K' >&2
}

# Two calls at the same time: the second waits, then finds the environment made.
lock_root() {
    if command -v flock >/dev/null; then
        exec 9<"$root"
        flock 9
    fi
}

unlock_root() {
    exec 9<&-
    trap - INT TERM
}

is_stamped() { [[ -x $venv/bin/python && -f $1 && $(<"$1") == "$2" ]]; }

ensure_env() {
    local python=${PYTHON:-python3} version made project start=$SECONDS
    version=$(python_version "$python") || exit 1
    made="$root $version $(digest "$root/scripts/requirements.lock")"
    project=$(digest "$root/pyproject.toml")
    is_stamped "$stamp_file" "$made"$'\n'"$project" && return

    trap stopped INT TERM
    lock_root
    if ! is_stamped "$stamp_file" "$made"$'\n'"$project"; then
        if [[ -x $venv/bin/python && -f $stamp_file && $(head -n 1 "$stamp_file") == "$made" ]]; then
            say "installing the project again, as pyproject.toml changed (some seconds)"
            rm -f "$stamp_file"
        else
            require_venv_module "$python"
            say "making .venv with $version (once; it took 1 min 45 s on 2 cores)"
            make_venv "$python" "$venv"
            pip_install "$venv" -r "$root/scripts/requirements.lock"
        fi
        pip_install "$venv" --no-deps --no-build-isolation -e "$root"
        printf '%s\n%s\n' "$made" "$project" >"$stamp_file"
        say ".venv is ready ($((SECONDS - start)) s)"
    fi
    unlock_root
}

ensure_extra() {
    local lock=$root/scripts/requirements-$1.lock stamp=$stamp_file-$1 wanted
    wanted=$(digest "$lock")
    is_stamped "$stamp" "$wanted" && return

    trap stopped INT TERM
    lock_root
    if ! is_stamped "$stamp" "$wanted"; then
        say "adding to .venv what '$1' needs (once, some seconds)"
        pip_install "$venv" -c "$root/scripts/requirements.lock" -r "$lock"
        printf '%s\n' "$wanted" >"$stamp"
    fi
    unlock_root
}
