"""Names that technologies go by, each under one id: what no user needs to teach."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

_GROUPS: Final[tuple[str, ...]] = (
    "postgresql postgres pg psql pgsql postgre",
    "mysql my-sql",
    "mariadb maria-db",
    "sqlite sqlite3",
    "mongodb mongo mongo-db",
    "redis redis-server",
    "elasticsearch elastic-search elastic",
    "clickhouse click-house",
    "cassandra",
    "dynamodb dynamo-db dynamo",
    "influxdb influx",
    "neo4j neo4j-db",
    "qdrant qdrant-db",
    "milvus",
    "kafka apache-kafka",
    "rabbitmq rabbit-mq",
    "memcached memcache",
    "microsoft-sql-server mssql sql-server",
    "bigquery big-query",
    "snowflake",
    "kubernetes k8s kube",
    "k3s",
    "docker",
    "docker-compose compose",
    "terraform",
    "ansible",
    "jenkins",
    "github-actions gh-actions",
    "gitlab git-lab",
    "github git-hub",
    "bitbucket",
    "nginx",
    "traefik",
    "apache-http-server httpd",
    "prometheus",
    "grafana",
    "opentelemetry otel",
    "argocd argo-cd argo",
    "helm",
    "python cpython python3 py3",
    "javascript js ecmascript",
    "typescript ts",
    "golang go-lang",
    "rust rustlang rust-lang",
    "c++ cpp cplusplus",
    "c# csharp c-sharp",
    ".net dotnet dot-net",
    "java",
    "kotlin",
    "swift",
    "ruby",
    "php",
    "scala",
    "haskell",
    "node.js nodejs node-js",
    "deno",
    "react reactjs react.js",
    "vue vuejs vue.js",
    "angular angularjs angular.js",
    "svelte",
    "next.js nextjs",
    "nuxt nuxtjs nuxt.js",
    "django",
    "flask",
    "fastapi fast-api",
    "ruby-on-rails rails ror",
    "spring-boot springboot",
    "express.js expressjs",
    "graphql gql",
    "grpc",
    "numpy",
    "pandas",
    "pytorch torch",
    "tensorflow",
    "scikit-learn sklearn scikit",
    "jupyter jupyter-notebook",
    "langchain lang-chain",
    "langgraph lang-graph",
    "langsmith",
    "openai open-ai",
    "chatgpt chat-gpt",
    "huggingface hugging-face",
    "pytest py.test",
    "unittest",
    "visual-studio-code vscode vs-code",
    "vim",
    "neovim nvim",
    "emacs",
    "intellij intellij-idea",
    "amazon-web-services aws",
    "google-cloud gcp google-cloud-platform",
    "microsoft-azure azure",
    "cloudflare",
    "linux",
    "ubuntu",
    "debian",
    "macos osx mac-os mac-os-x",
    "windows",
    "android",
    "ios",
    "large-language-model llm llms",
    "artificial-intelligence",
    "machine-learning",
    "latex",
    "markdown",
    "yaml yml",
    "json",
)
"""One group a technology, the id first; a hyphen stands for a hyphen, a blank or nothing."""


def _spellings(word: str) -> tuple[str, ...]:
    return (word, word.replace("-", " "), word.replace("-", "")) if "-" in word else (word,)


BUILT_IN: Final[Mapping[str, str]] = MappingProxyType(
    {
        spelling: group.split()[0].replace("-", " ") if group.split()[0] != "scikit-learn" else group.split()[0]
        for group in _GROUPS
        for word in group.split()
        for spelling in _spellings(word)
    }
)
"""Key of a name → id."""

NEED_CAPITAL: Final = frozenset(
    {
        "express",
        "rust",
        "swift",
        "java",
        "windows",
        "helm",
        "react",
        "flask",
        "vue",
        "rails",
        "angular",
        "elastic",
        "compose",
        "dynamo",
        "torch",
        "argo",
        "snowflake",
        "kube",
    }
)
"""Keys that are everyday words as well: found only when written with a capital letter."""
