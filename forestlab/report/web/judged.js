// ---- the judged rows at the chosen cell: confusion, calibration, predicted against true --------

const judgedName = () => SPLITS[told.rows.split];
const MOST_COUNTED = 16; // classes: of more the squares are too small for numbers

function confusionPanel() {
  const n = told.classes.length, counts = told.judged.confusion;
  const at = (t, p) => counts[(cell() * n + t) * n + p];
  return panel({
    title: () => `Confusion of ${judgedName()} rows at ${where()}: counts`,
    reading:
      "A line is a true class, a column what the forest says; blue squares are right, orange " +
      "ones mistakes, the stronger the greater their share of the line. A click lists the rows " +
      "of a square below.",
    on: ["s", "d", "truth", "predicted"],
    show: (body) => body.replaceChildren(confusionPicture(body, n, at)),
    table: () => ({
      head: ["true \\ predicted", ...told.classes],
      rows: range(n).map((t) => [className(t), ...range(n).map((p) => at(t, p))]),
    }),
  });
}

function confusionPicture(body, n, at) {
  const width = widthOf(body, 520), letters = Math.max(...told.classes.map((name) => name.length));
  const left = Math.min(26 + 6.6 * Math.min(letters, 14), width * 0.34), top = 8;
  const side = Math.min((width - left - 8) / n, n > 4 ? 46 : 76), slant = letters * 7 > side;
  const bottom = (slant ? 16 + 5 * Math.min(letters, 14) : 18) + 24;
  const wrong = range(n).reduce(
    (sum, t) => sum + range(n).reduce((own, p) => own + (t === p ? 0 : at(t, p)), 0),
    0,
  );
  const size = { width: left + n * side + 8, height: top + n * side + bottom };
  const root = svg(
    "svg",
    {
      ...size,
      viewBox: `0 0 ${size.width} ${size.height}`,
      role: "img",
      "aria-label": `Confusion matrix of ${n} classes at ${where()}: ${wrong} rows are wrong`,
    },
  );
  const [paperColour, blue, orange] = ["--card", "--accent", "--valid"].map((name) => rgb(token(name)));
  for (const t of range(n)) {
    const total = range(n).reduce((sum, p) => sum + at(t, p), 0) || 1;
    for (const p of range(n)) {
      const part = at(t, p) / total;
      const colour = mixed(
        paperColour,
        t === p ? blue : orange,
        t === p ? 0.85 * part : 0.9 * Math.sqrt(part),
      );
      const chosen = state.truth === String(t) && state.predicted === String(p);
      root.append(svg("rect", {
        x: left + p * side,
        y: top + t * side,
        width: side,
        height: side,
        fill: css(colour),
        stroke: chosen ? "var(--ink)" : "var(--grid)",
        "stroke-width": chosen ? 3 : 1,
      },
        svg(
          "title",
          {},
          `true ${className(t)}, predicted ${className(p)}: ${counted(at(t, p), "row")}, ` +
            `${fixed(part)} of the class`,
        )));
      if (n <= MOST_COUNTED && at(t, p)) root.append(svg(
        "text",
        {
          x: left + (p + 0.5) * side,
          y: top + (t + 0.5) * side + 4,
          "text-anchor": "middle",
          style: `fill:${inkOn(colour)};font-size:${side < 26 ? 9 : 12}px`,
        },
        at(t, p),
      ));
    }
  }
  if (side >= 11) for (const k of range(n)) {
    const name = shorter(className(k), 14), x = left + (k + 0.5) * side, y = top + n * side + 14;
    root.append(svg(
      "text",
      { x: left - 5, y: top + (k + 0.5) * side + 4, "text-anchor": "end", class: "quiet" },
      name,
    ),
      svg(
        "text",
        slant ? {
          transform: `translate(${x + 4} ${y - 4}) rotate(-40)`,
          "text-anchor": "end",
          class: "quiet",
        } : { x, y, "text-anchor": "middle", class: "quiet" },
        name,
      ));
  }
  root.append(svg(
    "text",
    { transform: `translate(11 ${top + (n * side) / 2}) rotate(-90)`, "text-anchor": "middle" },
    "true class",
  ),
    svg(
      "text",
      { x: left + (n * side) / 2, y: top + n * side + bottom - 5, "text-anchor": "middle" },
      "predicted class",
    ));
  root.classList.add("picks");
  root.addEventListener("click", (event) => {
    const box = root.getBoundingClientRect(), scale = root.width.baseVal.value / box.width;
    const p = Math.floor(((event.clientX - box.left) * scale - left) / side);
    const t = Math.floor(((event.clientY - box.top) * scale - top) / side);
    if (p < 0 || t < 0 || p >= n || t >= n) return;
    const again = state.truth === String(t) && state.predicted === String(p);
    set(again ? { truth: "", predicted: "" } : {
      truth: String(t),
      predicted: String(p),
      only: "all",
    });
  });
  return root;
}

// ---- calibration ------------------------------------------------------------------------------

function bins() {
  const { rows, confidence, right } = told.judged.bins, n = rows.shape[2];
  return range(n).map((b) => {
    const i = cell() * n + b, inIt = rows[i];
    return {
      low: b / n,
      high: (b + 1) / n,
      rows: inIt,
      confidence: confidence[i] / inIt,
      accuracy: right[i] / inIt,
    };
  });
}

function calibrationPanel() {
  const found = () => bins().filter((bin) => bin.rows > 0);
  const error = () => found().reduce(
    (sum, bin) => sum + bin.rows * Math.abs(bin.accuracy - bin.confidence),
    0,
  ) / told.judged.n_rows;
  return panel({
    title: () => `Calibration on ${judgedName()} rows at ${where()}: expected error ${fixed(error())}`,
    reading:
      "Rows fall into bins by the probability of the predicted class; each dot is the share of " +
      "them that is right, the larger the more rows. Dots below the diagonal: the forest is " +
      "surer than it is right. Both axes are shares, 0 to 1.",
    on: ["s", "d"],
    show(body) {
      const chart = paper(body, {
        xs: { from: [0, 1], name: "probability of the predicted class" },
        ys: { from: [0, 1], name: "share of right rows" },
        square: true,
        label:
          `Share of right rows by confidence at ${where()}; expected calibration error ` +
          `${fixed(error())}`,
      });
      chart.root.append(svg(
        "path",
        { class: "cross", d: `M${chart.x(0)},${chart.y(0)}L${chart.x(1)},${chart.y(1)}` },
      ));
      const most = Math.max(...found().map((bin) => bin.rows));
      for (const bin of found()) {
        chart.root.append(svg("circle", {
          cx: chart.x(bin.confidence),
          cy: chart.y(bin.accuracy),
          r: 3 + 9 * Math.sqrt(bin.rows / most),
          fill: "var(--accent)",
          "fill-opacity": 0.65,
          stroke: "var(--accent)",
        },
          svg(
            "title",
            {},
            `confidence ${fixed(bin.confidence)}: ${fixed(bin.accuracy)} of ` +
              `${counted(bin.rows, "row")} are right`,
          )));
      }
      body.replaceChildren(chart.root);
    },
    table: () => ({
      head: ["confidence above", "up to", "rows", "mean confidence", "share of right rows"],
      rows: found().map((bin) => [
        fixed(bin.low),
        fixed(bin.high),
        bin.rows,
        fixed(bin.confidence),
        fixed(bin.accuracy),
      ]),
    }),
  });
}

// ---- numbers ----------------------------------------------------------------------------------

function scatterPanel() {
  const { truth, even, answers } = told.rows;
  const rows = range(truth.length).filter((i) => even[i]);
  const answer = (i) => number(answers.answers, i * nCells() + cell());
  const from = roomy(extent([
    ...truth,
    answers.answers.low,
    answers.answers.low + answers.answers.step * 65534,
  ]));
  return panel({
    title: () => `Predicted against true, ${judgedName()} rows at ${where()}`,
    reading:
      "Each dot is a row; on the dashed diagonal it is predicted as it is, above too high, " +
      "below too low. A click selects the nearest row. Both axes are in units of the target.",
    on: ["s", "d", "row"],
    show(body) {
      const chart = paper(
        body,
        {
          xs: { from, name: "true" },
          ys: { from, name: "predicted" },
          square: true,
          label: `Predicted against true values of ${rows.length} rows at ${where()}`,
        },
      );
      chart.root.append(svg(
        "path",
        {
          class: "cross",
          d: `M${chart.x(from[0])},${chart.y(from[0])}L${chart.x(from[1])},${chart.y(from[1])}`,
        },
      ));
      const dot = (i, look) =>
        svg("circle", { cx: chart.x(truth[i]), cy: chart.y(answer(i)), r: 3, ...look });
      const each = { fill: "var(--accent)", "fill-opacity": 0.55 };
      const ring = { r: 7, fill: "none", stroke: "var(--lit-edge)", "stroke-width": 3 };
      chart.root.append(...rows.map((i) => dot(i, each)));
      if (state.row !== null) chart.root.append(dot(state.row, each), dot(state.row, ring));
      const apart = (i, [px, py]) => Math.hypot(chart.x(truth[i]) - px, chart.y(answer(i)) - py);
      picking(chart.root, (px, py) => set({ row: rows[nearest(rows, [px, py], apart)] }));
      body.replaceChildren(chart.root);
    },
    table: () => ({
      head: ["row", "true", "predicted", "error"],
      rows: rows.map((i) => [
        told.rows.numbers[i],
        text(truth[i]),
        text(answer(i)),
        text(answer(i) - truth[i]),
      ]),
    }),
  });
}
