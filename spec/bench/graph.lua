-- A launch in a graph: 100 tiny adds, replayed many times, end to end; against the same graph in C, and
-- torch's for context. Microseconds a launch.
package.path = (arg[0]:match("^(.*)/[^/]*$") or ".") .. "/?.lua;" .. package.path
local bench = require "bench"
local gpu = require "gpulua"

local NODES, REPLAYS = 100, 300

bench.main("graph_node", function()
  local kernels = gpu.kernels([[
    #[kernel]
    fn add(x: &[f32], y: &[f32], mut z: DisjointSlice<f32>) {
        let idx = thread::index_1d();
        let i = idx.get();
        if let Some(out) = z.get_mut(idx) { *out = x[i] + y[i]; }
    }
  ]], "graph")
  local x, y, z = gpu.randn { 1024 }, gpu.randn { 1024 }, gpu.full({ 1024 }, 0 / 0)
  local add = kernels.add:with { block = 256 }
  local graph = gpu.graph(function()
    for _ = 1, NODES do add:run(x, y, z) end
  end)
  graph:launch()
  bench.check_samples(z, { x, y }, function(a, b) return a + b end, 8)
  local replays = bench.option("n", REPLAYS)
  local r = bench.alternate(bench.option("rounds", 11), {
    { "ours", function() return bench.batch(function() graph:launch() end, replays) / NODES end },
    { "c", function() return (bench.c():ask("graph", NODES, replays)) end },
    { "torch", function() return (bench.python():ask("graph", NODES, replays)) end },
  })
  bench.emit({
    row = "graph_node", nodes = #graph, value = r.ours.median * 1e6, unit = "us", best = r.ours.min * 1e6,
    ratio = bench.ratio(r.ours, r.c), peer = "cuGraphLaunch in C", peer_value = r.c.median and r.c.median * 1e6,
    peer_error = r.c.error, others = { torch = r.torch.median and r.torch.median * 1e6 },
    others_error = r.torch.error and { torch = r.torch.error } or nil,
  }, { 1.05, 1.0, "lower" })
end)
