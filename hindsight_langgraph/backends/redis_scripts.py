"""The Lua scripts of the working store: one step a request, so that nothing is seen or left half done.

Stored forms. Fields: hash `f<name>` -> `<order>:<value>`, with the last order under `#`. Log: sorted set of ids by moment, hash
id -> `<microseconds>:<body>`. Queue: sorted set of items by the moment they can be claimed, hash `d`ue, `b`ody, `t`oken and
`a`ttempts + item. Moments travel as text: Lua numbers are doubles, which round microseconds from the year 2255 on.

KEYS of a key's scripts: index, fields, order, bodies. ARGV[1] is the member in the index; ARGV[2] of those that restart the
time to live is it in milliseconds, or "" to keep the key.
"""

from __future__ import annotations

_EXPIRY = """
local function now_ms()
  local time = redis.call('TIME')
  return string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
end

-- The index forgets expired keys, and lives exactly as long as its longest-lived key.
local function tidy(now)
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', '(' .. now)
  local last = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')
  if #last == 0 then return end
  if last[2] == 'inf' then redis.call('PERSIST', KEYS[1]) else redis.call('PEXPIREAT', KEYS[1], last[2]) end
end

local function leave(now)
  if redis.call('HLEN', KEYS[2]) == 1 and redis.call('HEXISTS', KEYS[2], '#') == 1 then redis.call('DEL', KEYS[2]) end
  if redis.call('EXISTS', KEYS[2], KEYS[3]) == 0 then redis.call('ZREM', KEYS[1], ARGV[1]) end
  tidy(now)
end

local function restart(ttl)
  local now = now_ms()
  local till = '+inf'
  if ttl ~= '' then till = string.format('%.0f', now + ttl) end
  for i = 2, 4 do
    if ttl == '' then redis.call('PERSIST', KEYS[i]) else redis.call('PEXPIREAT', KEYS[i], till) end
  end
  redis.call('ZADD', KEYS[1], till, ARGV[1])
  leave(now)
end
"""

_FIELDS = """
local function value_of(held) return string.sub(held, string.find(held, ':', 1, true) + 1) end

local function put(name, value)
  local order = redis.call('HINCRBY', KEYS[2], '#', 1)
  redis.call('HSET', KEYS[2], 'f' .. name, string.format('%.0f', order) .. ':' .. value)
end
"""

WRITE_FIELDS = _EXPIRY + _FIELDS + """
for i = 3, #ARGV, 2 do put(ARGV[i], ARGV[i + 1]) end
restart(ARGV[2])
"""  # fmt: skip

# ARGV[3]: how many pairs to drop; then these pairs; then the pairs to put.
FOLD_FIELDS = _EXPIRY + _FIELDS + """
local drops = 3 + 2 * ARGV[3]
for i = 4, drops, 2 do
  local held = redis.call('HGET', KEYS[2], 'f' .. ARGV[i])
  if not held or value_of(held) ~= ARGV[i + 1] then return 0 end
end
for i = 4, drops, 2 do redis.call('HDEL', KEYS[2], 'f' .. ARGV[i]) end
for i = drops + 1, #ARGV, 2 do put(ARGV[i], ARGV[i + 1]) end
restart(ARGV[2])
return 1
"""  # fmt: skip

DROP_FIELDS = _EXPIRY + """
local dropped = 0
for i = 2, #ARGV do dropped = dropped + redis.call('HDEL', KEYS[2], 'f' .. ARGV[i]) end
leave(now_ms())
return dropped
"""  # fmt: skip

# ARGV: member, ttl, name, by. Redis adds, since it knows 64-bit integers and Lua does not.
ADD_COUNT = _EXPIRY + _FIELDS + """
local held = redis.call('HGET', KEYS[2], 'f' .. ARGV[3])
redis.call('HSET', KEYS[2], '+', held and value_of(held) or '0')
local sum = redis.pcall('HINCRBY', KEYS[2], '+', ARGV[4])
local total = redis.call('HGET', KEYS[2], '+')
redis.call('HDEL', KEYS[2], '+')
if type(sum) == 'table' then return sum end
put(ARGV[3], total)
restart(ARGV[2])
return total
"""  # fmt: skip

# ARGV: member, ttl, keep or "", then id, moment, body of each entry.
APPEND_LOG = _EXPIRY + """
local new = 0
for i = 4, #ARGV, 3 do
  if redis.call('HSETNX', KEYS[4], ARGV[i], ARGV[i + 1] .. ':' .. ARGV[i + 2]) == 1 then
    redis.call('ZADD', KEYS[3], ARGV[i + 1], ARGV[i])
    new = new + 1
  end
end
if ARGV[3] ~= '' then
  local over = redis.call('ZCARD', KEYS[3]) - ARGV[3]
  if over > 0 then
    for _, id in ipairs(redis.call('ZRANGE', KEYS[3], 0, over - 1)) do redis.call('HDEL', KEYS[4], id) end
    redis.call('ZREMRANGEBYRANK', KEYS[3], 0, over - 1)
  end
end
restart(ARGV[2])
return new
"""  # fmt: skip

# KEYS: order, bodies. ARGV: the command that reads in the order wished, the last rank.
READ_LOG = """
local out = {}
for _, id in ipairs(redis.call(ARGV[1], KEYS[1], 0, ARGV[2])) do
  out[#out + 1] = id
  out[#out + 1] = redis.call('HGET', KEYS[2], id)
end
return out
"""

# KEYS: bodies. ARGV: id, body.
REPLACE_ENTRY = """
local held = redis.call('HGET', KEYS[1], ARGV[1])
if not held then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], string.sub(held, 1, string.find(held, ':', 1, true)) .. ARGV[2])
return 1
"""

DROP_ENTRIES = _EXPIRY + """
local dropped = 0
for i = 2, #ARGV do
  redis.call('HDEL', KEYS[4], ARGV[i])
  dropped = dropped + redis.call('ZREM', KEYS[3], ARGV[i])
end
leave(now_ms())
return dropped
"""  # fmt: skip

# KEYS: index.
LIST_KEYS = _EXPIRY + """
return redis.call('ZRANGEBYSCORE', KEYS[1], now_ms(), '+inf')
"""  # fmt: skip

# KEYS: index, then three of each key. ARGV: the members.
DELETE_KEYS = _EXPIRY + """
local deleted = 0
for i = 1, #ARGV do
  local first = 3 * i - 1
  if redis.call('EXISTS', KEYS[first], KEYS[first + 1]) > 0 then deleted = deleted + 1 end
  redis.call('DEL', KEYS[first], KEYS[first + 1], KEYS[first + 2])
  redis.call('ZREM', KEYS[1], ARGV[i])
end
tidy(now_ms())
return deleted
"""  # fmt: skip

# The scripts of a queue have KEYS: due, items.

# ARGV: item, due, body, "1" to move it only to an earlier moment. Under a claim the moment held is the end of its lease: the work
# begun does not cover this request, so the claim is invalidated, and the item is due when the lease ends.
SET_DUE = """
local due = ARGV[2]
local held = redis.call('ZSCORE', KEYS[1], ARGV[1])
if ARGV[4] == '1' and held and tonumber(held) <= tonumber(due) then
  if redis.call('HEXISTS', KEYS[2], 't' .. ARGV[1]) == 0 then return end
  due = redis.call('HGET', KEYS[2], 'd' .. ARGV[1])
end
redis.call('ZADD', KEYS[1], due, ARGV[1])
redis.call('HSET', KEYS[2], 'd' .. ARGV[1], due, 'b' .. ARGV[1], ARGV[3])
redis.call('HDEL', KEYS[2], 't' .. ARGV[1])
"""

# ARGV: now, end of the lease, limit, token.
CLAIM_DUE = """
local out = {}
for _, item in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, ARGV[3])) do
  redis.call('ZADD', KEYS[1], ARGV[2], item)
  redis.call('HSET', KEYS[2], 'd' .. item, ARGV[2], 't' .. item, ARGV[4])
  out[#out + 1] = item
  out[#out + 1] = redis.call('HGET', KEYS[2], 'b' .. item)
  out[#out + 1] = redis.call('HINCRBY', KEYS[2], 'a' .. item, 1)
end
return out
"""

# ARGV: item, token, the moment to retry at or "".
SETTLE_DUE = """
if redis.call('HGET', KEYS[2], 't' .. ARGV[1]) ~= ARGV[2] then return 0 end
if ARGV[3] == '' then
  redis.call('ZREM', KEYS[1], ARGV[1])
  redis.call('HDEL', KEYS[2], 'd' .. ARGV[1], 'b' .. ARGV[1], 't' .. ARGV[1], 'a' .. ARGV[1])
else
  redis.call('ZADD', KEYS[1], ARGV[3], ARGV[1])
  redis.call('HSET', KEYS[2], 'd' .. ARGV[1], ARGV[3])
  redis.call('HDEL', KEYS[2], 't' .. ARGV[1])
end
return 1
"""

# ARGV: item, token, the new end of the lease.
EXTEND_LEASE = """
if redis.call('HGET', KEYS[2], 't' .. ARGV[1]) ~= ARGV[2] then return 0 end
redis.call('ZADD', KEYS[1], ARGV[3], ARGV[1])
redis.call('HSET', KEYS[2], 'd' .. ARGV[1], ARGV[3])
return 1
"""

# ARGV: the last rank.
PEEK_DUE = """
local out = {}
for _, item in ipairs(redis.call('ZRANGE', KEYS[1], 0, ARGV[1])) do
  out[#out + 1] = item
  out[#out + 1] = redis.call('HGET', KEYS[2], 'd' .. item)
end
return out
"""
