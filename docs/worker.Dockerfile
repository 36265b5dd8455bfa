# A worker for `malice run --dask`, built from the sources at hand:
# git archive HEAD | docker build --file docs/worker.Dockerfile --tag malice-worker -
FROM python:3.11-slim
RUN apt-get update \
    && apt-get install --yes --no-install-recommends bubblewrap gcc libc6-dev \
    && rm -rf /var/lib/apt/lists/*
COPY . /tmp/malice
RUN pip install --no-cache-dir '/tmp/malice[dask]' && rm -r /tmp/malice
VOLUME /var/cache/malice
ENTRYPOINT ["malice", "worker", "--cache", "/var/cache/malice"]
