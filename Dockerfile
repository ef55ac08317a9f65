# The image that every component runs from: `docker build -t <your registry>/gangline:0.1.0 .`
FROM python:3.11-slim AS wheels
COPY pyproject.toml README.md LICENSE /source/
COPY src /source/src
COPY examples /source/examples
RUN pip wheel --no-cache-dir --wheel-dir /wheels /source

FROM python:3.11-slim
RUN --mount=type=bind,from=wheels,source=/wheels,target=/wheels pip install --no-cache-dir --no-index --find-links /wheels gangline
USER 65532:65532
ENTRYPOINT ["gangline"]
