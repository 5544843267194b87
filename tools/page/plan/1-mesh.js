// The plan, and its mesh: which part of a tensor each rank holds.

const plan = data;

// The coordinates of a rank, first axis major.
function coordinates(rank) {
  const result = {};
  for (const [name, size] of Object.entries(plan.mesh).reverse()) {
    result[name] = rank % size;
    rank = Math.floor(rank / size);
  }
  return result;
}

// Per dim [begin, end, size] of the rank's block of a tensor; the last block may be cut short.
function blockOf(tensor, rank) {
  const at = coordinates(rank);
  return tensor.shape.map((size, d) => {
    let parts = 1, index = 0;
    for (const axis of tensor.sharding[d] || []) {
      parts *= plan.mesh[axis];
      index = index * plan.mesh[axis] + at[axis];
    }
    const length = Math.ceil(size / parts);
    return [Math.min(size, index * length), Math.min(size, (index + 1) * length), size];
  });
}

// The two dims that a picture shows: split ones before whole ones, in their order.
function shownDims(tensor) {
  const dims = tensor.shape.map((_, d) => d);
  dims.sort((a, b) => (tensor.sharding[b] || []).length - (tensor.sharding[a] || []).length || a - b);
  return dims.slice(0, 2).sort((a, b) => a - b);
}

// The tensor as a frame, and the blocks of some ranks in it.
function blocksPicture(tensor, ranks) {
  const dims = shownDims(tensor);
  function filled(rank) {
    const block = blockOf(tensor, rank);
    const range = (d) => d === undefined ? [0, 1] : block[d][2] ? [block[d][0] / block[d][2], block[d][1] / block[d][2]] : [0, 1];
    const [rows, columns] = dims.length === 2 ? [range(dims[0]), range(dims[1])] : [range(dims[0]), [0, 1]];
    return el("rect", {x: 1 + 98 * columns[0], y: 1 + 44 * rows[0], width: Math.max(1, 98 * (columns[1] - columns[0])),
                       height: Math.max(1, 44 * (rows[1] - rows[0])), fill: "var(--c0)"});
  }
  return el("svg", {viewBox: "0 0 100 46", preserveAspectRatio: "none", "aria-hidden": "true"},
    el("rect", {x: 0.5, y: 0.5, width: 99, height: 45, fill: "none", stroke: "var(--line)"}), ...ranks.map(filled));
}

function blockText(tensor, rank) {
  const split = blockOf(tensor, rank).filter(([begin, end, size]) => end - begin < size);
  return split.length === 0 ? "all of it" : blockOf(tensor, rank).map(([begin, end, size]) =>
    end - begin === size ? ":" : begin === end ? "none" : `${begin}:${end}`).join(", ");
}

// The axes that split a tensor, in the order of the mesh.
const splitAxes = (tensor) => Object.keys(plan.mesh).filter((axis) => tensor.sharding.some((dim) => dim.includes(axis)));

// `dp 1, tp 3`: where a rank is on these axes.
const placeText = (rank, axes) => axes.map((axis) => `${axis} ${coordinates(rank)[axis]}`).join(", ");

// The ranks that hold the same block of a tensor, block by block.
function holders(tensor) {
  const axes = splitAxes(tensor), found = new Map();
  for (let rank = 0; rank < plan.ranks; ++rank) {
    const place = placeText(rank, axes);
    if (!found.has(place)) found.set(place, []);
    found.get(place).push(rank);
  }
  return [...found.values()];
}

const mostFrames = 16, mostOfAxis = 32;

// Rows of frames [title, frames], a frame being the ranks whose blocks it shows, one rank per block: of few blocks, each in a frame; else a row
// per axis, with what all ranks at a place on it hold.
function frameRows(tensor, blocks) {
  if (blocks.length <= mostFrames) return [["", blocks]];
  return splitAxes(tensor).map((axis) => [axis, Array.from({length: Math.min(plan.mesh[axis], mostOfAxis)}, (_, place) =>
    blocks.map(([rank]) => rank).filter((rank) => coordinates(rank)[axis] === place))]);
}

function meshSection() {
  const tensors = plan.tensors.filter((tensor) => tensor.shape.length > 0);
  if (plan.ranks < 2 || tensors.length === 0) return;
  const grid = el("div", {id: "ranks"}), say = el("p", {role: "status"});
  const layout = (tensor) => `[${tensor.sharding.map((dim) => dim.join("+") || "_").join(", ")}]`;
  const ranksOf = (ranks) => `rank${ranks.length > 1 ? "s" : ""} ${ranks.length > 8 ? `${ranks.slice(0, 4).join(", ")}, … (${ranks.length})` : rangesText(ranks)}`;
  function show(index) {
    const tensor = tensors[index], blocks = holders(tensor), axes = splitAxes(tensor), rows = frameRows(tensor, blocks);
    const ofBlock = (ranks) => el("div", {class: "rank"}, ranksOf(ranks), el("span", {class: "note"}, placeText(ranks[0], axes)),
                                  blocksPicture(tensor, ranks.slice(0, 1)), el("span", {class: "mono"}, blockText(tensor, ranks[0])));
    const ofPlace = (axis) => (ranks) => el("div", {class: "rank"}, placeText(ranks[0], [axis]), blocksPicture(tensor, ranks));
    grid.replaceChildren(...rows.flatMap(([axis, frames]) => [
      axis && el("p", {class: "row"}, `along ${axis}, ${plan.mesh[axis]} places${frames.length < plan.mesh[axis] ? `, ${frames.length} shown` : ""}`),
      el("div", {class: "ranks", style: `--columns:${Math.min(frames.length, 8)}`}, ...frames.map(axis ? ofPlace(axis) : ofBlock))]).filter(Boolean));
    grid.dataset.drawn = rows.reduce((sum, [, frames]) => sum + frames.length, 0);
    const each = plan.ranks / blocks.length;
    say.textContent = `${tensor.name}: ${tensor.dtype} ${tensor.shape.join(" x ")}, ${bytesText(tensor.bytes)}, lives as ` +
      `${layout(tensor)}: ${bytesText(tensor.rank_bytes)} on each rank` +
      (blocks.length === 1 ? `, which all ${plan.ranks} hold` : `; ${blocks.length} blocks${each > 1 ? `, each on ${each} ranks` : ""}`);
  }
  const isSplit = (tensor) => tensor.sharding.some((dim) => dim.length);
  const first = Math.max(0, tensors.findIndex(isSplit), tensors.findIndex((tensor) => isSplit(tensor) && tensor.role === "parameter"));
  const menu = el("select", {id: "tensor", "aria-label": "tensor", change: () => show(Number(menu.value))},
    ...tensors.map((tensor, i) => el("option", {value: i, selected: i === first ? "" : undefined},
                                      `${tensor.name}  ${layout(tensor)}  (${tensor.role})`)));
  show(first);
  section("mesh", "Mesh", "Each frame is the whole tensor (of more than two dims, the two that are split most), and in it what some ranks hold: a block, " +
          "or of many blocks, those of all ranks at one place on an axis.", el("div", {class: "controls"}, menu), say, scrolling(grid));
}
