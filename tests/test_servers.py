"""The test servers themselves: a fault here would make other tests pass for nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from tests.servers import Cluster, Server, ServerFailed, redis_binary, running


def test_valkey_is_a_plain_valkey(valkey: Server):
    with valkey.client() as client:
        assert client.info("server")["server_name"] == "valkey"


def test_redis8_is_redis_8_without_the_graph_module(redis8: Server):
    with redis8.client() as client:
        assert client.info("server")["redis_version"].startswith("8.")
        assert b"graph" not in repr(client.execute_command("MODULE", "LIST")).lower().encode()


def test_the_cluster_serves_keys_of_every_node(redis_cluster: Cluster):
    with redis.RedisCluster.from_url(redis_cluster.url) as client:
        for number in range(50):
            client.set(f"servers:{number}", number)
        assert [int(client.get(f"servers:{number}")) for number in range(50)] == list(range(50))
        assert len({client.get_node_from_key(f"servers:{number}").port for number in range(50)}) == 3


def test_a_stopped_or_killed_server_refuses_and_comes_back_with_its_data(stoppable_redis: Server):
    for end in (stoppable_redis.stop, stoppable_redis.kill):
        with stoppable_redis.client() as client:
            client.incr("kept")
        end()
        with stoppable_redis.client() as client, pytest.raises(redis.ConnectionError):
            client.ping()
        stoppable_redis.start()
    with stoppable_redis.client() as client:
        assert client.get("kept") == b"2"


def test_a_paused_server_does_not_answer_until_resumed(stoppable_redis: Server):
    stoppable_redis.pause()
    with (
        redis.Redis(port=stoppable_redis.port, socket_timeout=0.1, retry=Retry(NoBackoff(), 0)) as client,
        pytest.raises(redis.TimeoutError),
    ):
        client.ping()
    stoppable_redis.resume()
    with stoppable_redis.client() as client:
        assert client.ping()


def test_a_server_that_cannot_start_fails_with_its_log(tmp_path: Path):
    with pytest.raises(ServerFailed, match="no-such-option"), running(redis_binary(), tmp_path, "--no-such-option", "1"):
        pass
