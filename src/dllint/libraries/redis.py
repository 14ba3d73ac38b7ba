"""redis 8.1."""

from dllint.libraries.facets import Library
from dllint.libraries.pickling import RLOCK, Refusal
from dllint.screen import Words

LIBRARY = Library(
    refusals=dict.fromkeys(
        ("redis.Redis", "redis.StrictRedis", "redis.from_url", "redis.Redis.from_url"), Refusal("a Redis client", RLOCK)
    ),
    words=Words(nearby=(b"redis",)),
)
