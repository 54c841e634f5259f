# The bot for the real thing: give it LAPLACED_TELEGRAM__TOKEN and LAPLACED_LLM__API_KEY, and a volume at /data.
FROM python:3.11.14-slim-bookworm AS build

ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /src
# core: what is under permissive licences only; all: every option too. See docs/dependencies.md.
ARG LOCK=all
COPY deploy/locks deploy/locks
RUN python -m venv /opt/laplaced \
    && /opt/laplaced/bin/pip install --require-hashes -r "deploy/locks/${LOCK}.txt" \
    && python -m venv /opt/sbom \
    && /opt/sbom/bin/pip install --require-hashes -r deploy/locks/sbom.txt
# Bilingual dictionaries under the GPL, without the servers that their packages depend on.
RUN mkdir -p /opt/dictionaries/usr/share \
    && if [ "${LOCK}" = all ]; then apt-get update && apt-get download mueller7-dict apertium-rus-ukr \
        && for package in ./*.deb; do dpkg --extract "${package}" /opt/dictionaries; done; fi
COPY pyproject.toml README.md LICENSE ./
COPY bot bot
COPY internal internal
COPY migrations migrations
RUN /opt/laplaced/bin/pip install --no-deps --no-build-isolation . \
    && /opt/sbom/bin/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible \
        --output-file /opt/laplaced/sbom.cdx.json /opt/laplaced/bin/python


FROM python:3.11.14-slim-bookworm

# What llama.cpp of the extra `local` is linked with.
RUN apt-get update && apt-get install --yes --no-install-recommends libgomp1=12.2.* && rm -rf /var/lib/apt/lists/*

# A fixed id, so that a mounted folder can be given to it beforehand.
RUN groupadd --gid 10001 laplaced \
    && useradd --uid 10001 --gid laplaced --no-create-home --home-dir /data --shell /usr/sbin/nologin laplaced \
    && install --directory --owner=laplaced --group=laplaced --mode=0700 /data

COPY --from=build /opt/laplaced /opt/laplaced
COPY --from=build /opt/dictionaries/usr/share /usr/share
WORKDIR /app
COPY config.yaml ./

ENV PATH=/opt/laplaced/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    LAPLACED_DATA_DIR=/data \
    LAPLACED_SERVER__HOST=0.0.0.0 \
    LAPLACED_METRICS__IDENTITY=hashed \
    LAPLACED_SERVER__PORT=9081

USER 10001:10001
VOLUME /data
EXPOSE 9081 9082 30547

HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
    CMD ["python", "-c", "import os, urllib.request as r; r.urlopen(f'http://127.0.0.1:{os.environ[\"LAPLACED_SERVER__PORT\"]}/healthz', timeout=4)"]

ENTRYPOINT ["laplaced"]
CMD ["run"]
