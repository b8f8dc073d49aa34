#!/bin/sh
# Installs one Debian package without starting its service. Run as root, one at a time (see binaries.ts).
set -eu
package=$1
export DEBIAN_FRONTEND=noninteractive

is_installed() {
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed'
}

# Another test process may have done it while this one waited for its turn.
if is_installed; then exit 0; fi

# Debian starts a service as soon as its package is installed, on its standard port. A policy that answers
# 101 ("not allowed") prevents that; a machine that already has a policy keeps its own.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  trap 'rm -f "$policy"' EXIT
  trap 'exit 1' HUP INT TERM
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod 755 "$policy"
fi

apt-get update -qq
apt-get install -y -qq --no-install-recommends -o DPkg::Lock::Timeout=300 "$package"
