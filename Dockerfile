# malice in a container, built from the sources at hand; docs/desk.md says how to run it, and what it needs of its host.
#
#   git archive HEAD | docker build --tag malice -
#   git archive HEAD | docker build --tag malice-kits --target kits -
#
# The first is for organisers. The second has the compilers of all starter kits besides, and is for those who write bots.

FROM debian:trixie-slim AS wheels
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates cargo gcc libc6-dev python3-venv
COPY . /src
RUN python3 -m venv /opt/malice \
    && PIP_CONSTRAINT=/src/constraints.txt /opt/malice/bin/pip install --no-cache-dir '/src[dask]' /src/core

FROM debian:trixie-slim AS base
RUN apt-get update \
    && apt-get install --yes --no-install-recommends bubblewrap ca-certificates git python3 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home malice \
    && install --directory --owner malice /work
COPY --from=wheels /opt/malice /opt/malice
ENV PATH=/opt/malice/bin:$PATH
USER malice
WORKDIR /work
# A volume that is mounted here belongs to whom the folder does.
RUN mkdir -p /home/malice/.cache/malice
ENTRYPOINT ["malice"]

FROM base AS kits
USER root
RUN apt-get update \
    && apt-get install --yes --no-install-recommends \
        cargo \
        default-jdk-headless \
        default-jre-headless \
        g++ \
        gcc \
        golang-go \
        jq \
        libc6-dev \
        libcjson-dev \
        libmono-system-runtime-serialization4.0-cil \
        lua-dkjson \
        lua5.4 \
        maven \
        mono-mcs \
        mono-runtime \
        nlohmann-json3-dev \
        nodejs \
        npm \
        perl \
        ruby \
    && rm -rf /var/lib/apt/lists/*
USER malice

# The last one is built where no target is named.
FROM base AS malice
