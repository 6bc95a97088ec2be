// ---- metrics at the chosen cell, over the whole surface, and along its two axes ----------------

const valueAt = (split, key, c = cell()) => told.surfaces[split][key][c];
const splits = () => Object.keys(told.surfaces);
const splitColour = (split) => `var(--${split})`;

function metricsPanel() {
  return panel({
    title: () => `Metrics at ${where()}`,
    reading:
      "One column a split, one line a metric, with its unit; they are those of a fit with this " +
      "depth and number of trees.",
    on: ["s", "d"],
    show(body) {
      const head = ["", ...splits().map((split) => `${SPLITS[split]}`)];
      const rows = told.metrics.map((metric) => html("tr", {},
        html(
          "th",
          { scope: "row", class: "words" },
          metric.name,
          html("br"),
          html(
            "small",
            {},
            [metric.reading, metric.unit].filter(Boolean).join("; "),
            metric.higher ? "; more is better" : "; less is better",
          ),
        ),
        splits().map((split) => html(
          "td",
          { "data-metric": `${metric.key}/${split}` },
          fixed(valueAt(split, metric.key), 4),
        ))));
      const counts = html(
        "tr",
        {},
        html("th", { scope: "row", class: "words" }, "Rows"),
        splits().map((split) => html("td", {}, told.splits[split].toLocaleString("en"))),
      );
      body.replaceChildren(html("div", { class: "scroll" }, html("table", { class: "metrics" },
        html(
          "thead",
          {},
          html("tr", {}, head.map((name) => html("th", { scope: "col" }, name))),
        ), html("tbody", {}, rows, counts))));
    },
  });
}

/** Which split and metric the surface and the curves show. */
function surfaceChoices() {
  return html("div", { class: "choices" },
    select(
      "metric",
      "metric",
      told.metrics.map((one) => [one.key, one.name]),
      state.metric,
      (metric) => set({ metric }),
    ),
    isForest() ? select(
      "split of the surface",
      "split",
      splits().map((one) => [one, SPLITS[one]]),
      state.split,
      (split) => set({ split }),
    ) : null);
}

function surfacePanel() {
  const values = () => told.surfaces[state.split][state.metric];
  return panel({
    title: () =>
      `${metricOf(state.metric).name} on ${SPLITS[state.split]} rows, over depth and number of ` +
      "trees",
    reading: () =>
      "Each cell is one forest, all from one fit; the brighter, the better; colours go by " +
      "rank, so that small differences show too. The cross-hair is where the sliders are: " +
      `click to move them. Unit: ${metricOf(state.metric).unit || "none"}.`,
    on: ["s", "d", "split", "metric"],
    show: (body) => body.replaceChildren(...heatMap(body, values())),
    table: () => ({
      head: ["trees \\ depth", ...told.depths],
      rows: [...told.sizes].map((n, s) => [
        n,
        ...range(nDepths()).map((d) => fixed(values()[cell(s, d)], 4)),
      ]),
    }),
  });
}

function heatMap(body, values) {
  const [low, high] = extent(values), rank = ranks(values, metricOf(state.metric).higher);
  const chart = paper(body, {
    xs: { from: [-0.5, nDepths() - 0.5], name: "depth", at: [] }, ys: {
      from: [-0.5, nSizes() - 0.5],
      name: "number of trees",
      at: [],
    },
    label:
      `${metricOf(state.metric).name} on ${state.split} rows, from ${text(low)} to ` +
      `${text(high)}; at ${where()} it is ${text(values[cell()])}`,
    height: Math.max(230, Math.min(320, 24 * nSizes() + 60)),
  });
  const { root, x, y } = chart, wide = x(1) - x(0), tall = y(0) - y(1);
  for (const c of range(nCells())) {
    const s = Math.floor(c / nDepths()), d = c % nDepths(), value = values[c];
    const colour = Number.isFinite(value) ? css(viridis(rank(value))) : "var(--shade)";
    root.append(svg("rect", {
      x: x(d) - wide / 2,
      y: y(s) - tall / 2,
      width: wide + 0.5,
      height: tall + 0.5,
      fill: colour,
    },
      svg(
        "title",
        {},
        `depth ${told.depths[d]}, ${counted(told.sizes[s], "tree")}: ${text(value)}`,
      )));
  }
  for (const d of marks(range(nDepths()), x, 26)) root.append(svg(
    "text",
    { x: x(d), y: chart.top + chart.down + 16, "text-anchor": "middle", class: "quiet" },
    told.depths[d],
  ));
  for (const s of marks(range(nSizes()), y, 15)) root.append(svg(
    "text",
    { x: chart.left - 6, y: y(s) + 4, "text-anchor": "end", class: "quiet" },
    told.sizes[s],
  ));
  const light = {
    stroke: "#fff",
    "stroke-width": 3,
    fill: "none",
    "pointer-events": "none",
  }, dark = { ...light, stroke: "#000", "stroke-width": 1.2 };
  for (const look of [light, dark]) {
    root.append(svg(
      "path",
      {
        ...look,
        d: `M${x(state.d)},${chart.top}v${chart.down}M${chart.left},${y(state.s)}h${chart.across}`,
      },
    ),
      svg("circle", { ...look, cx: x(state.d), cy: y(state.s), r: 6 }));
  }
  picking(root, (px, py) => set({
    d: nearest(range(nDepths()).map(x), px),
    s: nearest(range(nSizes()).map(y), py),
  }));
  const quarters = range(5).map((k) => rank.value(k / 4));
  return [root, ramp(quarters, text(values[cell()]))];
}

/** value → its place from worst, 0, to best, 1, among all; and back. */
function ranks(values, higher) {
  const sorted = [
    ...new Set([...values].filter(Number.isFinite)),
  ].sort((a, b) => (higher ? a - b : b - a));
  const place = new Map(sorted.map((value, k) => [
    value,
    sorted.length > 1 ? k / (sorted.length - 1) : 0.5,
  ]));
  return Object.assign(
    (value) => place.get(value),
    { value: (part) => sorted[Math.round(part * (sorted.length - 1))] },
  );
}

/** What the colours of a map stand for. */
function ramp(values, here) {
  const stops = range(11).map((k) => css(viridis(k / 10))).join(",");
  return html("div", { class: "choices" }, html("div", { class: "ramp" },
    html(
      "div",
      { style: `height:.8rem;background:linear-gradient(90deg,${stops})`, "aria-hidden": "true" },
    ),
    html(
      "div",
      { class: "ends" },
      values.map((value) => html("span", {}, text(value, 3))),
    )), here === undefined ? null : html("span", {}, "here ", html("b", {}, here)));
}

/** The depth that rows would choose. */
function chosenWords() {
  if (!told.chosen) return "";
  const split = told.chosen.split === "valid" ? "Validation" : "Out-of-bag";
  return ` ${split} rows choose depth ${told.chosen.depth}.`;
}

function curvesPanel(along) {
  const byDepth = along === "d", axis = byDepth ? "depth" : "number of trees";
  const elsewhere = () => (!byDepth ? `, at depth ${depth()}` : isForest() ? `, of ${counted(size(), "tree")}` : "");
  const lines = () => splits().map((split) => ({
    name: SPLITS[split], colour: splitColour(split), heavy: split === "test",
    values: range(byDepth ? nDepths() : nSizes()).map((i) => valueAt(
      split,
      state.metric,
      byDepth ? cell(state.s, i) : cell(i, state.d),
    )),
  }));
  return panel({
    title: () => `${metricOf(state.metric).name} by ${axis}${elsewhere()}`,
    reading: () =>
      "One line a split; the dashed line is where the slider is, a click moves " +
      `it.${byDepth ? chosenWords() : ""} Unit: ${metricOf(state.metric).unit || "none"}.`,
    on: ["s", "d", "metric"],
    show: (body) => gridLines(
      body,
      {
        along,
        lines: lines(),
        name: metricOf(state.metric).name,
        label: `${metricOf(state.metric).name} by ${axis}`,
      },
    ),
    table: () => linesTable(along, lines()),
  });
}
