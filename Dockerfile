# The service as an image: docker build -t gpu-planner . ; docs/guides/operate.md says how to run it.
FROM python:3.12-slim-bookworm AS build
WORKDIR /build
COPY requirements-server.lock ./
RUN python -m venv /opt/planner \
 && /opt/planner/bin/python -m pip install --no-cache-dir --require-hashes --requirement requirements-server.lock
COPY pyproject.toml README.md LICENSE NOTICE ./
COPY planner ./planner
COPY pricing ./pricing
COPY terraform ./terraform
COPY openapi ./openapi
COPY examples ./examples
COPY docs/reference/schemas ./docs/reference/schemas
RUN /opt/planner/bin/python -m pip install --no-cache-dir --no-deps --no-build-isolation . \
 && /opt/planner/bin/python -m compileall -q /opt/planner

FROM python:3.12-slim-bookworm
RUN groupadd --system --gid 10001 planner \
 && useradd --system --uid 10001 --gid planner --home-dir /data --no-create-home --shell /usr/sbin/nologin planner \
 && install --directory --owner planner --group planner --mode 0750 /data
COPY --from=build /opt/planner /opt/planner
ENV PATH=/opt/planner/bin:$PATH \
    GPU_PLANNER_DATA=/data \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1
WORKDIR /data
VOLUME ["/data"]
USER 10001:10001
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
  CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/healthz', timeout=2)"]
ENTRYPOINT ["planner"]
CMD ["serve", "--host", "0.0.0.0"]
