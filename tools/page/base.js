// What all pages share: elements, units, colours, tables, and figures on a canvas.

const data = JSON.parse(document.getElementById("data").textContent);

// An element with attributes; functions are listeners; children are elements or text.
function el(name, attributes = {}, ...children) {
  const isDrawing = ["svg", "g", "rect", "line", "circle", "text", "title", "path"].includes(name);
  const made = isDrawing ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(key, value);
    else if (value !== undefined && value !== false) made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== undefined && child !== null));
  return made;
}

function scaled(value, units, step) {
  let k = 0;
  while (Math.abs(value) >= step && k + 1 < units.length) { value /= step; ++k; }
  const digits = k === 0 && Number.isInteger(value) ? 0 : Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return `${value.toFixed(digits)} ${units[k]}`;
}
const bytesText = (bytes) => scaled(bytes, ["B", "KiB", "MiB", "GiB", "TiB"], 1024);
const countText = (count, unit) => scaled(count, ["", "k", "M", "G", "T", "P", "E"].map((p) => p + unit), 1000);
function secondsText(seconds) {
  if (seconds === 0) return "0 s";
  return Math.abs(seconds) < 1 ? scaled(seconds * 1e9, ["ns", "us", "ms"], 1000) : scaled(seconds, ["s"], Infinity);
}
// A share as a percentage; one that is not 0 does not become 0.
const percentText = (share) => share === 0 ? "0 %" : share > 0 && share < 0.0005 ? "<0.1 %" : share < 0 && share > -0.0005 ? ">-0.1 %" :
  `${(100 * share).toFixed(1)} %`;
// `323k tokens/s`
const amountText = (count, of) => `${scaled(count, ["", "k", "M", "G", "T"], 1000).replace(" ", "")} ${of}`;
// A name that lines may break behind points, slashes and underscores.
const breakable = (name) => el("span", {}, ...String(name).split(/(?<=[./_])(?=[^./_])/).flatMap((part, i) => i ? [el("wbr"), part] : [part]));
// Model FLOPs utilization, with the digits that mean something.
const utilizationText = (share) => `${Number((100 * share).toPrecision(3))} %`;

const palette = ["--c0", "--c1", "--c2", "--c3", "--c4", "--c5", "--c6", "--c7", "--c8"];
const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
// The colour of one of a list of names: a custom property of the style sheet.
const colorOf = (list, name) => palette[Math.max(0, list.indexOf(name)) % palette.length];

// What the colours of the names mean that `isShown` accepts.
function legend(list, isShown = () => true) {
  return el("div", {class: "legend"}, ...list.filter(isShown).map((name) =>
    el("span", {}, el("i", {style: `background:var(${colorOf(list, name)})`}), name)));
}

const sections = [];
// A part of the page, with a heading that the navigation links to. Parts without content are left out.
function section(id, title, note, ...content) {
  if (content.length === 0) return;
  document.querySelector("main").append(
    el("section", {id, "aria-labelledby": `${id}-title`}, el("h2", {id: `${id}-title`}, title), el("p", {}, note), ...content));
  document.querySelector("nav").append(el("a", {href: `#${id}`}, title));
}

// A table of rows (arrays) that the reader filters and sorts. columns: {title, number, show(value, row), mono, prose}; the value of a cell
// is text or a number, what is shown an element or text; `mono` are names, `prose` are sentences. `kinds` gives the column whose values make a menu.
// The event `only`, {name, isShown(row)}, restricts it to some rows until the reader presses the name.
function searchable(id, columns, rows, kinds) {
  const shownAtFirst = 100;
  let sort = {column: -1, down: false}, limit = shownAtFirst, only = null;
  const text = (value) => String(value).toLowerCase();
  const search = el("input", {type: "search", id: `${id}-search`, placeholder: "search", "aria-label": "search in this table",
                              input: () => draw()});
  const menu = kinds === undefined ? null : el("select", {"aria-label": columns[kinds].title, change: () => draw()},
    el("option", {value: ""}, `every ${columns[kinds].title}`),
    ...[...new Set(rows.map((row) => row[kinds]))].map((kind) => el("option", {value: kind}, kind)));
  const count = el("span", {class: "note", role: "status"}), body = el("tbody");
  const more = el("button", {click: () => { limit *= 4; draw(); }}, "more rows");
  const all = el("button", {"aria-label": "show all rows", click: () => { only = null; draw(); }});
  const heads = columns.map((column, c) => el("th", {scope: "col", class: column.number ? "number" : undefined},
    el("button", {click: () => { sort = {column: c, down: sort.column === c ? !sort.down : !!column.number}; draw(); }},
       column.title)));
  function draw() {
    const wanted = text(search.value);
    let found = rows.filter((row) => (!only || only.isShown(row)) && (!menu || !menu.value || row[kinds] === menu.value) &&
      (!wanted || row.some((value) => text(value).includes(wanted))));
    if (sort.column >= 0) {
      const c = sort.column, sign = sort.down ? -1 : 1;
      found = found.slice().sort((a, b) => sign * (columns[c].number ? a[c] - b[c] : String(a[c]).localeCompare(String(b[c]))));
      heads.forEach((head, h) => head.setAttribute("aria-sort", h !== c ? "none" : sort.down ? "descending" : "ascending"));
    }
    body.replaceChildren(...found.slice(0, limit).map((row) => el("tr", {}, ...columns.map((column, c) =>
      el("td", {class: column.number ? "number" : column.mono ? "mono" : column.prose ? "prose" : undefined},
         column.show ? column.show(row[c], row) : column.mono ? breakable(row[c]) : String(row[c]))))));
    more.hidden = found.length <= limit;
    all.hidden = !only;
    all.textContent = only ? `${only.name} ×` : "";
    count.textContent = `${found.length} of ${rows.length}`;
    body.dataset.drawn = Math.min(limit, found.length);
  }
  draw();
  return el("div", {id, only: ({detail}) => { only = detail; draw(); }}, el("div", {class: "controls"}, search, menu, all, count),
            scrolling(el("table", {}, el("thead", {}, el("tr", {}, ...heads)), body)), more);
}

const figures = [];
// A canvas of a height in CSS pixels. draw(context, width, height) returns how many elements it has drawn; it is called again when
// the width or the colours change.
function figure(id, label, height, draw, listeners) {
  const canvas = el("canvas", {id, tabindex: 0, role: "img", "aria-label": label, style: `height:${height}px`, ...listeners});
  const redraw = () => {
    const width = canvas.clientWidth, ratio = window.devicePixelRatio || 1;
    if (width === 0) return;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const context = canvas.getContext("2d");
    context.scale(ratio, ratio);
    context.font = "11px system-ui, sans-serif";
    canvas.dataset.drawn = draw(context, width, height);
  };
  figures.push(redraw);
  return {canvas, redraw, box: el("div", {class: "figure"}, canvas)};
}

// About `count` round values of [begin, end]; of bytes, those of their units.
function roundValues(begin, end, count, base = 10) {
  const rough = (end - begin) / count, power = base ** Math.floor(Math.log(rough) / Math.log(base));
  const factors = base === 10 ? [1, 2, 5, 10] : [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];
  const step = factors.map((f) => f * power).find((s) => s >= rough) || power, first = Math.ceil(begin / step - 1e-9);
  return end > begin ? Array.from({length: Math.floor(end / step + 1e-9) - first + 1}, (_, i) => (first + i) * step) : [begin];
}

// Draws the axis below a chart: marks at round values of [begin, end], and what they count.
function axis(context, begin, end, toX, y, show, title) {
  context.fillStyle = color("--faint");
  for (const at of roundValues(begin, end, 6)) {
    const x = toX(at), text = show(at), isLast = x + 3 + context.measureText(text).width > context.canvas.clientWidth;
    context.textAlign = isLast ? "right" : "left";
    context.fillRect(x, y, 1, 4);
    context.fillText(text, isLast ? x - 1 : x + 3, y + 13);
  }
  context.textAlign = "left";
  if (title) context.fillText(title, 4, y + 13);
}

// Draws the axis on the left of a chart, whose numbers end at `left`, and lines across it at the values.
function gridLines(context, values, toY, left, width, show) {
  context.textAlign = "right";
  for (const value of values) {
    context.fillStyle = color("--line");
    context.fillRect(left, Math.round(toY(value)), width - left, 1);
    context.fillStyle = color("--faint");
    context.fillText(show(value), left - 6, Math.max(9, toY(value) + 4));
  }
  context.textAlign = "left";
}

// A box that scrolls sideways where it is too narrow for its content; its edges say so, and arrow keys move it.
const scrolling = (...content) => el("div", {class: "scroll", tabindex: 0, role: "group", "aria-label": "scrolls sideways"}, ...content);

const tile = (value, text) => el("div", {class: "tile"}, el("b", {}, value), el("span", {}, text));

// Draws all figures, and again when the window or the colours change.
function drawFigures() {
  const redrawAll = () => figures.forEach((redraw) => redraw());
  window.addEventListener("resize", redrawAll);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);
  redrawAll();
}
