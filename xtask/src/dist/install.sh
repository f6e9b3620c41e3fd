#!/bin/sh
# Installs Estelle for this user: ./install.sh, or PREFIX=/usr/local ./install.sh
#
# Beside an unpacked release it installs that. Beside an archive it checks the archive's sum and unpacks it first.
# Nothing is fetched, and nothing outside the prefix is touched.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
prefix=${PREFIX:-"$HOME/.local"}

if [ ! -f "$here/bin/estelle" ]; then
    archive=$(cd "$here" && ls estelle-*.tar.gz 2>/dev/null | tail -n 1)
    if [ -z "$archive" ]; then
        echo "install.sh: there is neither bin/estelle nor an archive in $here" >&2
        exit 1
    fi
    (cd "$here" && grep -F " $archive" SHA256SUMS | sha256sum -c - >/dev/null) || {
        echo "install.sh: $archive is not the one that SHA256SUMS names; fetch it again" >&2
        exit 1
    }
    unpacked=$(mktemp -d)
    trap 'rm -rf "$unpacked"' EXIT
    tar -xzf "$here/$archive" -C "$unpacked"
    here=$unpacked/${archive%.tar.gz}
fi

mkdir -p "$prefix/bin" "$prefix/share"
# A program that runs cannot be written to, but another can take its name: what runs goes on with the old one.
cp "$here/bin/estelle" "$prefix/bin/.estelle.new"
chmod 755 "$prefix/bin/.estelle.new"
mv -f "$prefix/bin/.estelle.new" "$prefix/bin/estelle"
ln -f "$prefix/bin/estelle" "$prefix/bin/estelle-sim-claude"
if [ -d "$here/share" ]; then
    cp -R "$here/share/." "$prefix/share/"
fi

"$prefix/bin/estelle" --version
case ":$PATH:" in
    *":$prefix/bin:"*) ;;
    *) echo "Add $prefix/bin to your PATH." ;;
esac
echo "Next: estelle up. To start it with the machine: estelle service install"
