#!/usr/bin/env bash
# Makes a site of docs/: scripts/docs.sh [folder]        default build/site; open index.html there
# Needs Debian's python3-sphinx and python3-myst-parser.
set -euo pipefail
cd "$(dirname "$0")/.."
site=${1:-build/site}
/usr/bin/python3 -c 'import myst_parser, sphinx' 2>/dev/null ||
  { echo "Install python3-sphinx and python3-myst-parser, and run this again." >&2; exit 1; }

# Pages name files of the source, as they are read there too; in the site such links lead to copies.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r docs "$work/docs"
mkdir -p "$work/examples/digits"
cp -r examples/digits/pictures "$work/examples/digits/"
for page in README CONTRIBUTING SECURITY CHANGELOG; do
  sed 's#](docs/#](#g' "$page.md" > "$work/docs/$page.md"
done
# Sphinx knows no lexer for MLIR.
find "$work/docs" -name '*.md' -exec sed -i 's#^```mlir$#```#' {} +
sed -i 's#](\.\./\(README\|CONTRIBUTING\|SECURITY\|CHANGELOG\)\.md#](\1.md#g' "$work"/docs/*.md
more=
for page in "$work"/docs/*.md "$work"/docs/*/*.md; do
  name=${page#"$work"/docs/}
  name=${name%.md}
  case $name in index | README | CONTRIBUTING | SECURITY | CHANGELOG) continue ;; esac
  grep -qx "$name" docs/index.md || more="$more$name\n"
done
[ -z "$more" ] || printf '\n```{toctree}\n:caption: More\n:maxdepth: 1\n\n%b```\n' "$more" >> "$work/docs/index.md"
printf '\n```{toctree}\n:caption: Project\n:maxdepth: 1\n\nREADME\nCONTRIBUTING\nSECURITY\nCHANGELOG\n```\n' >> "$work/docs/index.md"
cp CMakeLists.txt "$work/"
# Every warning is an error: a link that leads nowhere, a page that no other one lists.
/usr/bin/python3 -m sphinx -q -W --keep-going -b html "$work/docs" "$site"
echo "$site/index.html"
