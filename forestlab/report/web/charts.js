// ---- axes and lines ---------------------------------------------------------------------------

/** A few round numbers between low and high. */
function ticks(low, high, most = 5) {
  if (!(high > low)) return [low];
  const raw = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((one) => one >= raw * 0.999);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) {
    found.push(Number((k * step).toPrecision(10)));
  }
  return found;
}

/** Whole numbers that stand apart far enough, the last among them. */
function marks(numbers, place, gap) {
  const kept = [];
  for (const i of range(numbers.length).reverse()) {
    if (kept.every((j) => Math.abs(place(numbers[i]) - place(numbers[j])) >= gap)) kept.push(i);
  }
  return kept.reverse().map((i) => numbers[i]);
}

const extent = (values) => {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low > high ? [0, 1] : [low, high];
};

/** Low and high with a little room around them. */
function roomy([low, high], part = 0.05) {
  const margin = high > low ? part * (high - low) : Math.abs(high) * 0.1 || 0.5;
  return [low - margin, high + margin];
}

/**
 * The paper of a chart: { root, x, y, inner }, x and y turn values into pixels.
 * xs and ys: { from: [low, high], name, log, at: values with a mark }.
 */
function paper(body, { xs, ys, label, height = 260, left = 58, square = false }) {
  const width = widthOf(body);
  const right = 14, top = 10, bottom = 44;
  if (square) height = Math.min(width - left - right, 340) + top + bottom;
  const across = (square ? height - top - bottom : width - left - right);
  const down = height - top - bottom;
  const scaled = ({ from: [low, high], log }, start, length) => {
    const [a, b] = log ? [Math.log(low), Math.log(high)] : [low, high];
    return (value) => start + (((log ? Math.log(value) : value) - a) / (b - a || 1)) * length;
  };
  const x = scaled(xs, left, across), y = scaled(ys, top + down, -down);
  const root = svg(
    "svg",
    {
      width: left + across + right,
      height,
      role: "img",
      "aria-label": label,
      viewBox: `0 0 ${left + across + right} ${height}`,
    },
  );
  for (const value of xs.at ? marks(xs.at, x, 26) : ticks(
    ...xs.from,
    Math.max(3, Math.round(across / 80)),
  )) {
    root.append(svg(
      "line",
      { class: "gridline", x1: x(value), x2: x(value), y1: top, y2: top + down },
    ),
      svg(
        "text",
        { x: x(value), y: top + down + 16, "text-anchor": "middle", class: "quiet" },
        text(value),
      ));
  }
  for (const value of ys.at || ticks(...ys.from)) {
    root.append(svg(
      "line",
      { class: "gridline", x1: left, x2: left + across, y1: y(value), y2: y(value) },
    ),
      svg(
        "text",
        { x: left - 6, y: y(value) + 4, "text-anchor": "end", class: "quiet" },
        text(value),
      ));
  }
  root.append(svg("path", { class: "axis", d: `M${left},${top}V${top + down}H${left + across}` }),
    svg("text", { x: left + across / 2, y: height - 8, "text-anchor": "middle" }, xs.name),
    svg(
      "text",
      { transform: `translate(13 ${top + down / 2}) rotate(-90)`, "text-anchor": "middle" },
      ys.name,
    ));
  return { root, x, y, left, top, across, down };
}

/** A path through the points that are there. */
function path(xs, values, x, y) {
  let pen = "M", d = "";
  xs.forEach((at, i) => {
    if (Number.isFinite(values[i])) {
      d += `${pen}${x(at).toFixed(1)},${y(values[i]).toFixed(1)}`;
      pen = "L";
    } else pen = "M";
  });
  return d;
}

/**
 * Lines over the grid's depths or numbers of trees, with a mark at the chosen one.
 * lines: [{ name, colour, values, dashed }]; along: "d" or "s".
 */
function gridLines(body, { along, lines, name, label, from }) {
  const byDepth = along === "d";
  const at = [...(byDepth ? told.depths : told.sizes)];
  const here = at[state[along]];
  const chart = paper(body, {
    xs: byDepth ? {
      from: [at[0], Math.max(at.at(-1), at[0] + 1)],
      name: "depth",
      at,
    } : { from: [at[0], at.at(-1)], name: "number of trees", log: true, at },
    ys: { from: from || roomy(extent(lines.flatMap((line) => [...line.values]))), name },
    label:
      `${label}, at ${where()}: ` +
      `${lines.map((line) => `${line.name} ${text(line.values[state[along]], 3)}`).join(", ")}`,
  });
  chart.root.append(svg(
    "line",
    {
      class: "cross",
      x1: chart.x(here),
      x2: chart.x(here),
      y1: chart.top,
      y2: chart.top + chart.down,
    },
  ));
  for (const line of lines) {
    chart.root.append(svg(
      "path",
      {
        d: path(at, line.values, chart.x, chart.y),
        fill: "none",
        stroke: line.colour,
        "stroke-width": line.heavy ? 3 : 1.8,
        "stroke-dasharray": line.dashed ? "6 4" : undefined,
      },
    ));
    const value = line.values[state[along]];
    if (Number.isFinite(value)) chart.root.append(svg(
      "circle",
      { cx: chart.x(here), cy: chart.y(value), r: 4, fill: line.colour },
    ));
  }
  picking(chart.root, (px) => set({ [along]: nearest(at.map(chart.x), px) }));
  body.replaceChildren(chart.root, keys(lines.map((line) => [line.name, line.colour])));
}

/** Have pick(x, y), in the picture's pixels, follow a pointer that is down. */
function picking(root, pick) {
  const follow = (event) => {
    const box = root.getBoundingClientRect();
    const scale = root.width.baseVal.value / box.width;
    pick((event.clientX - box.left) * scale, (event.clientY - box.top) * scale);
  };
  root.classList.add("picks");
  root.addEventListener("pointerdown", follow);
  root.addEventListener("pointermove", (event) => event.buttons && follow(event));
}

/** A table of lines over the grid. */
function linesTable(along, lines) {
  const at = [...(along === "d" ? told.depths : told.sizes)];
  return {
    head: [along === "d" ? "depth" : "trees", ...lines.map((line) => line.name)],
    rows: at.map((value, i) => [value, ...lines.map((line) => text(line.values[i], 5))]),
  };
}
