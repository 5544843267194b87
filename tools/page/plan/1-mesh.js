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

// The tensor as a frame, and the rank's block in it.
function blockPicture(tensor, rank) {
  const block = blockOf(tensor, rank), dims = shownDims(tensor);
  const range = (d) => d === undefined ? [0, 1] : block[d][2] ? [block[d][0] / block[d][2], block[d][1] / block[d][2]] : [0, 1];
  const [rows, columns] = dims.length === 2 ? [range(dims[0]), range(dims[1])] : [range(dims[0]), [0, 1]];
  return el("svg", {viewBox: "0 0 100 46", preserveAspectRatio: "none", "aria-hidden": "true"},
    el("rect", {x: 0.5, y: 0.5, width: 99, height: 45, fill: "none", stroke: "var(--line)"}),
    el("rect", {x: 1 + 98 * columns[0], y: 1 + 44 * rows[0], width: Math.max(1.5, 98 * (columns[1] - columns[0])),
                height: Math.max(1.5, 44 * (rows[1] - rows[0])), fill: "var(--c0)"}));
}

function blockText(tensor, rank) {
  const split = blockOf(tensor, rank).filter(([begin, end, size]) => end - begin < size);
  return split.length === 0 ? "all of it" : blockOf(tensor, rank).map(([begin, end, size]) =>
    end - begin === size ? ":" : begin === end ? "none" : `${begin}:${end}`).join(", ");
}

// `dp 1, tp 3`
const placeText = (rank) => Object.entries(coordinates(rank)).reverse().map(([axis, at]) => `${axis} ${at}`).join(", ");

function meshSection() {
  const tensors = plan.tensors.filter((tensor) => tensor.shape.length > 0);
  if (plan.ranks < 2 || tensors.length === 0) return;
  // Of many ranks, a frame has no room for text: it is below all frames.
  const shown = Math.min(plan.ranks, 256), axes = Object.entries(plan.mesh), isMany = shown > 16;
  const columns = axes.length ? Math.min(axes[axes.length - 1][1], isMany ? 32 : 8) : 1;
  const grid = el("div", {class: isMany ? "ranks many" : "ranks", id: "ranks", style: `--columns:${columns}`});
  const say = el("p", {role: "status"}), detail = el("p", {class: "mono", role: "status"});
  const layout = (tensor) => `[${tensor.sharding.map((dim) => dim.join("+") || "_").join(", ")}]`;
  function show(index) {
    const tensor = tensors[index];
    const text = (rank) => `rank ${rank}, ${placeText(rank)}: ${blockText(tensor, rank)}`;
    const tell = (rank) => { if (isMany) detail.textContent = text(rank); };
    grid.replaceChildren(...Array.from({length: shown}, (_, rank) => el("div", {class: "rank", title: text(rank), pointerenter: () => tell(rank)},
      isMany ? String(rank) : `rank ${rank}`, isMany ? null : el("span", {class: "note"}, placeText(rank)), blockPicture(tensor, rank),
      isMany ? null : el("span", {class: "mono"}, blockText(tensor, rank)))));
    grid.dataset.drawn = shown;
    tell(0);
    say.textContent = `${tensor.name}: ${tensor.dtype} ${tensor.shape.join(" x ")}, ${bytesText(tensor.bytes)}, lives as ` +
      `${layout(tensor)}: ${bytesText(tensor.rank_bytes)} on each rank` + (shown < plan.ranks ? `; ${shown} of ${plan.ranks} ranks shown` : "");
  }
  const isSplit = (tensor) => tensor.sharding.some((dim) => dim.length);
  const first = Math.max(0, tensors.findIndex(isSplit), tensors.findIndex((tensor) => isSplit(tensor) && tensor.role === "parameter"));
  const menu = el("select", {id: "tensor", "aria-label": "tensor", change: () => show(Number(menu.value))},
    ...tensors.map((tensor, i) => el("option", {value: i, selected: i === first ? "" : undefined},
                                      `${tensor.name}  ${layout(tensor)}  (${tensor.role})`)));
  show(first);
  section("mesh", "Mesh", "Each frame is the whole tensor (of more than two dims, the two that are split most), and in it the block that a rank holds" +
          (isMany ? "; point at one to see its numbers." : "."),
          el("div", {class: "controls"}, menu), say, el("div", {class: "scroll"}, grid), isMany ? detail : "");
}
