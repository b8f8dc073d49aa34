#!/usr/bin/env bash
# The servers and programs that tests start, on a runner of GitHub.
set -euo pipefail
sudo apt-get update
sudo apt-get install --yes redis-server postgresql pgbouncer mariadb-server galera-4 etcd-server etcd-client chromium-browser \
  faketime prometheus nginx-light default-jdk-headless libmariadb-java
