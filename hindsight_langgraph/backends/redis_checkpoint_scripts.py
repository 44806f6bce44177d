"""Lua of the Redis checkpoint store: each script is one atomic step on the keys of one thread.

KEYS are always rows, writes, objects, revision, runs. Rows and writes are sorted sets whose members all have score 0 and begin
with an escaped address that ends in a zero byte, so that ranges by lexicographic order find them; objects are a hash by content.
"""

from __future__ import annotations

from hindsight_langgraph.backends.redis_link import Script

_COMMON = """
local function under(address) return '[' .. address, '(' .. string.sub(address, 1, -2) .. '\\1' end
local function at(table, address)
  local low, high = under(address)
  return redis.call('ZRANGEBYLEX', table, low, high)
end
local function live(ms) if ms > 0 then for i = 1, 5 do redis.pcall('PEXPIRE', KEYS[i], ms) end end end
local function touched()
  if redis.call('INCR', KEYS[4]) == 1 then
    -- Revisions start at the time: a thread that was deleted and made again must not look unchanged to a sweep.
    local now = redis.call('TIME')
    redis.call('SET', KEYS[4], string.format('%.0f', now[1] * 1000000 + now[2]))
  end
end
local function with_writes(row)
  local first = string.find(row, '\\0', 1, true)
  local address = string.sub(row, 1, string.find(row, '\\0', first + 1, true))
  return {row, at(KEYS[2], address)}
end
"""

WRITE = Script(
    _COMMON
    + """
-- ttl, #needs, needs.., #objects, (key, body).., #members, (table, address, keep, member).., runs..
local at_arg = 2
local function count() local n = tonumber(ARGV[at_arg]); at_arg = at_arg + 1; return n end
for _ = 1, count() do
  if redis.call('HEXISTS', KEYS[3], ARGV[at_arg]) == 0 then return 0 end
  at_arg = at_arg + 1
end
local function write()
  touched()
  local objects = count()
  local last = at_arg + 2 * objects - 1
  while at_arg <= last do
    local stop = math.min(at_arg + 3999, last)
    redis.call('HSET', KEYS[3], unpack(ARGV, at_arg, stop))
    at_arg = stop + 1
  end
  for _ = 1, count() do
    local table, address = KEYS[tonumber(ARGV[at_arg])], ARGV[at_arg + 1]
    local old = at(table, address)
    if #old == 0 or ARGV[at_arg + 2] == '0' then
      for _, member in ipairs(old) do redis.call('ZREM', table, member) end
      redis.call('ZADD', table, 0, ARGV[at_arg + 3])
    end
    at_arg = at_arg + 4
  end
  for i = at_arg, #ARGV do redis.call('SADD', KEYS[5], ARGV[i]) end
end
-- Whatever stops the writing half-way, no key is left to live for ever.
local done, why = pcall(write)
live(tonumber(ARGV[1]))
if done then return 1 end
if type(why) == 'table' then return why end
return redis.error_reply(why)
"""
)

READ = Script(
    _COMMON
    + """
-- ttl, namespace address, checkpoint address or ''
local found
if ARGV[3] == '' then
  local low, high = under(ARGV[2])
  found = redis.call('ZREVRANGEBYLEX', KEYS[1], high, low, 'LIMIT', 0, 1)
else
  found = at(KEYS[1], ARGV[3])
end
if #found == 0 then return false end
live(tonumber(ARGV[1]))
return with_writes(found[1])
"""
)

CHAIN = Script(
    _COMMON
    + """
-- namespace address, escaped checkpoint id, limit
local chain, seen, id = {}, {}, ARGV[2]
while id ~= '' and not seen[id] and #chain < tonumber(ARGV[3]) do
  seen[id] = true
  local address = ARGV[1] .. id .. '\\0'
  local found = at(KEYS[1], address)
  if #found == 0 then break end
  chain[#chain + 1] = with_writes(found[1])
  id = string.sub(found[1], #address + 1, string.find(found[1], '\\0', #address + 1, true) - 1)
end
return chain
"""
)

WRITES = Script(
    _COMMON
    + """
local found = {}
for i, address in ipairs(ARGV) do found[i] = at(KEYS[2], address) end
return found
"""
)

OBJECTS = Script(
    """
local lists, order, seen = {}, {}, {}
local function want(digest)
  if not seen[digest] then seen[digest] = true; order[#order + 1] = 'v' .. digest end
end
local function resolve(digest)
  local chain, links = {}, nil
  while digest do
    local node = redis.call('HGET', KEYS[3], 'l' .. digest)
    if not node then return nil end
    local first, last, depth = struct.unpack('>I4I4I4', node, 17)
    links = links or depth
    chain[#chain + 1] = {first, last, node}
    digest = string.sub(node, 1, 16)
    if digest == string.rep('\\0', 16) then digest = nil end
  end
  local refs = {}
  for i = #chain, 1, -1 do
    local first, last, node = chain[i][1], chain[i][2], chain[i][3]
    local kept = refs
    if first ~= #refs then
      refs = {}
      for j = 1, first do refs[j] = kept[j] end
    end
    for j = 29, #node, 16 do refs[#refs + 1] = string.sub(node, j, j + 15) end
    if kept ~= refs then for j = last + 1, #kept do refs[#refs + 1] = kept[j] end end
  end
  return refs, links
end
for _, key in ipairs(ARGV) do
  if string.sub(key, 1, 1) == 'v' then
    want(string.sub(key, 2))
  else
    local refs, links = resolve(string.sub(key, 2))
    if refs then
      for _, digest in ipairs(refs) do want(digest) end
      lists[#lists + 1] = {key, table.concat(refs), links}
    end
  end
end
local bodies = {}
for i = 1, #order, 4000 do
  local some = redis.call('HMGET', KEYS[3], unpack(order, i, math.min(i + 3999, #order)))
  for _, body in ipairs(some) do bodies[#bodies + 1] = body end
end
return {lists, order, bodies}
"""
)

CONTENT = Script(
    """
-- '1' for the bodies of values
local keys = redis.call('HKEYS', KEYS[3])
local wanted = {}
for _, key in ipairs(keys) do
  if ARGV[1] == '1' or string.sub(key, 1, 1) == 'l' then wanted[#wanted + 1] = key end
end
local bodies = {}
for i = 1, #wanted, 4000 do
  local some = redis.call('HMGET', KEYS[3], unpack(wanted, i, math.min(i + 3999, #wanted)))
  for _, body in ipairs(some) do bodies[#bodies + 1] = body end
end
local revision = redis.call('GET', KEYS[4]) or '0'
return {revision, redis.call('ZRANGE', KEYS[1], 0, -1), redis.call('ZRANGE', KEYS[2], 0, -1), keys, wanted, bodies}
"""
)

SWEEP = Script(
    _COMMON
    + """
-- revision, #rows, rows.., #writes, writes.., #put, (key, body).., #drop, keys.., runs..
if redis.call('GET', KEYS[4]) ~= ARGV[1] then return 0 end
local ms = redis.call('PTTL', KEYS[4])
local at_arg = 2
local function count() local n = tonumber(ARGV[at_arg]); at_arg = at_arg + 1; return n end
for table = 1, 2 do
  for _ = 1, count() do
    local low, high = under(ARGV[at_arg])
    redis.call('ZREMRANGEBYLEX', KEYS[table], low, high)
    at_arg = at_arg + 1
  end
end
for _ = 1, count() do
  redis.call('HSET', KEYS[3], ARGV[at_arg], ARGV[at_arg + 1])
  at_arg = at_arg + 2
end
for _ = 1, count() do
  redis.call('HDEL', KEYS[3], ARGV[at_arg])
  at_arg = at_arg + 1
end
redis.call('DEL', KEYS[5])
for i = at_arg, #ARGV do redis.call('SADD', KEYS[5], ARGV[i]) end
if redis.call('EXISTS', KEYS[1], KEYS[2]) == 0 then
  redis.call('DEL', unpack(KEYS))
else
  redis.call('INCR', KEYS[4])
end
live(ms)
return 1
"""
)
