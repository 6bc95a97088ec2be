// ---- what is answered where there are no rows: along one feature, or over the plane of two ------

function planePanel() {
  const { plane } = told;
  if (plane.kind === "over") return plane.classes ? regionsPanel() : mapPanel();
  return plane.posteriors ? posteriorsAlongPanel() : bandPanel();
}

/** The training rows, and the selected one. */
function pointsOver(chart, colourOf) {
  const { X, truth } = told.plane.training;
  const dots = svg("g", { "stroke-width": 0.7 });
  for (const i of range(X.shape[0])) {
    if (Number.isNaN(X[2 * i]) || Number.isNaN(X[2 * i + 1])) continue;
    dots.append(svg(
      "circle",
      {
        cx: chart.x(X[2 * i]),
        cy: chart.y(X[2 * i + 1]),
        r: 2.6,
        fill: colourOf(truth?.[i]),
        stroke: "var(--paper)",
      },
    ));
  }
  chart.root.append(dots);
  const values = selectedValues();
  if (values) chart.root.append(svg(
    "circle",
    {
      cx: chart.x(values[0]),
      cy: chart.y(values[1]),
      r: 7,
      fill: "none",
      stroke: "var(--ink)",
      "stroke-width": 3,
    },
  ));
}

const selectedValues = () => (state.row === null || !told.rows ? null : rowValues(state.row));

/** A picture of side × side pixels behind a chart; colour(k) of pixel k, counted from the bottom left. */
function pixels(chart, side, colour) {
  const canvas = html("canvas", { width: side, height: side });
  const context = canvas.getContext("2d"), image = context.createImageData(side, side);
  for (let line = 0; line < side; line++) for (let column = 0; column < side; column++) {
    const [r, g, b] = colour(line * side + column), to = 4 * ((side - 1 - line) * side + column);
    image.data.set([r, g, b, 255], to);
  }
  context.putImageData(image, 0, 0);
  return svg(
    "image",
    {
      href: canvas.toDataURL(),
      x: chart.left,
      y: chart.top,
      width: chart.across,
      height: chart.down,
      preserveAspectRatio: "none",
      style: "image-rendering:pixelated",
    },
  );
}

function overChart(body, label) {
  const [left, right, bottom, top] = told.plane.extent;
  return paper(
    body,
    {
      xs: { from: [left, right], name: told.plane.names[0] },
      ys: { from: [bottom, top], name: told.plane.names[1] },
      square: true,
      label,
    },
  );
}

function regionsPanel() {
  const { classes, top, side } = told.plane, n = side * side;
  return panel({
    title: () => `Decision regions at ${where()}: the predicted class over both features`,
    reading:
      "The colour of a place is the class that the forest says there, the paler the less sure " +
      "it is; dots are training rows, in the colour of their class. Axes are the features, in " +
      "their own units.",
    on: ["s", "d", "row"],
    show(body) {
      const chart = overChart(body, `Decision regions at ${where()}`), paperColour = rgb(token("--paper"));
      const palette = told.classes.map((_, k) => rgb(classColour(k)));
      const least = 1 / told.classes.length;
      const from = cell() * n;
      chart.root.append(pixels(chart, side, (k) => {
        const sure = Math.max((share(top[from + k]) - least) / (1 - least), 0);
        return mixed(paperColour, palette[classes[from + k]], 0.16 + 0.6 * sure);
      }));
      pointsOver(chart, (k) => classColour(k));
      body.replaceChildren(chart.root, keys(told.classes.map((name, k) => [name, classColour(k)])));
    },
    table: () => ({ head: ["class", "share of the plane"], rows: told.classes.map((name, k) => {
      let inIt = 0;
      for (let i = 0; i < n; i++) if (classes[cell() * n + i] === k) inIt += 1;
      return [name, fixed(inIt / n)];
    }) }),
  });
}

function mapPanel() {
  const { answers, side } = told.plane, n = side * side;
  const from = () => cell() * n;
  const here = () => extent(range(n).map((k) => shown(number(answers, from() + k))));
  const shown = (value) => (isDensity() ? Math.exp(value) : value);
  return panel({
    title: () => `${isDensity() ? "Density" : "Predicted number"} at ${where()} over both features`,
    reading: () => (isDensity() ?
      "The brighter a place, the more densely rows lie there, as the forest has it; dots are " +
      "training rows. Unit: share of rows for each unit of area." :
        "The brighter a place, the greater the number predicted there; dots are training rows. " +
        "In units of the target."),
    on: ["s", "d", "row"],
    show(body) {
      const chart = overChart(body, `Map at ${where()}`), [low, high] = here(), start = from();
      const part = (value) => (value - low) / (high - low || 1);
      chart.root.append(pixels(chart, side, (k) => viridis(part(shown(number(answers, start + k))))));
      pointsOver(chart, () => "#fff");
      body.replaceChildren(chart.root, ramp([low, (low + high) / 2, high]));
    },
    table: () => ({
      head: ["", "value"],
      rows: [["least", text(here()[0])], ["greatest", text(here()[1])]],
    }),
  });
}

function bandPanel() {
  const { x, answers, between, total, training } = told.plane, at = [...x];
  const along = (coded) => at.map((_, i) => number(coded, i * nCells() + cell()));
  const truth = training.truth ? [...training.truth] : [];
  return panel({
    title: () =>
      `${isDensity() ? "Log density" : "Prediction band"} at ${where()}, along ` +
      `${told.plane.names[0]}`,
    reading: isDensity()
      ? "The line is the logarithm of the density, in nats."
      :
        "The line is the mean of the trees. The dark band is ± one standard deviation between " +
        "trees, the pale one also has the spread within their leaves. Dots are training rows. " +
        "In units of the target.",
    on: ["s", "d", "row"],
    show(body) {
      const mean = along(answers), inner = between && along(between), outer = total && along(total);
      const from = roomy(extent([...truth, ...mean]), 0.08);
      const chart = paper(
        body,
        {
          xs: { from: extent(at), name: told.plane.names[0] },
          ys: { from, name: isDensity() ? "log density" : "target" },
          label: `Prediction along ${told.plane.names[0]} at ${where()}`,
          height: 300,
        },
      );
      const edge = (width, sign) => path(
        at,
        mean.map((m, i) => m + sign * width[i]),
        chart.x,
        chart.y,
      );
      const ribbon = (width) => `${edge(width, 1)}L${edge(width, -1).slice(1).split("L").reverse().join("L")}Z`;
      const clip = svg(
        "clipPath",
        { id: "band-clip" },
        svg("rect", { x: chart.left, y: chart.top, width: chart.across, height: chart.down }),
      );
      const inside = svg("g", { "clip-path": "url(#band-clip)" });
      if (outer) inside.append(
        svg("path", { d: ribbon(outer), fill: "var(--accent)", "fill-opacity": 0.16 }),
        svg("path", { d: ribbon(inner), fill: "var(--accent)", "fill-opacity": 0.34 }),
      );
      range(truth.length).forEach((i) => inside.append(svg(
        "circle",
        {
          cx: chart.x(training.X[i]),
          cy: chart.y(truth[i]),
          r: 2.2,
          fill: "var(--quiet)",
          "fill-opacity": 0.6,
        },
      )));
      inside.append(svg(
        "path",
        {
          d: path(at, mean, chart.x, chart.y),
          fill: "none",
          stroke: "var(--accent)",
          "stroke-width": 2.2,
        },
      ));
      const values = selectedValues();
      if (values && told.rows.truth) inside.append(svg(
        "circle",
        {
          cx: chart.x(values[0]),
          cy: chart.y(told.rows.truth[state.row]),
          r: 7,
          fill: "none",
          stroke: "var(--ink)",
          "stroke-width": 3,
        },
      ));
      chart.root.append(clip, inside);
      body.replaceChildren(chart.root);
    },
    table: () => ({
      head: [told.plane.names[0], "mean", ...(between ? ["between trees", "in all"] : [])],
      rows: at.map((value, i) => [
        text(value),
        ...[answers, between, total].filter(Boolean).map((coded) => text(number(coded, i * nCells() + cell()))),
      ]),
    }),
  });
}

function posteriorsAlongPanel() {
  const { x, posteriors } = told.plane, at = [...x], n = told.classes.length;
  const along = (k) => at.map((_, i) => share(posteriors[(i * n + k) * nCells() + cell()]));
  return panel({
    title: () => `Probability of each class at ${where()}, along ${told.plane.names[0]}`,
    reading: "One line a class: the probability that the forest gives it, 0 to 1.",
    on: ["s", "d"],
    show(body) {
      const chart = paper(
        body,
        {
          xs: { from: extent(at), name: told.plane.names[0] },
          ys: { from: [0, 1], name: "probability" },
          label: `Probabilities along ${told.plane.names[0]} at ${where()}`,
        },
      );
      for (const k of range(n)) chart.root.append(svg(
        "path",
        {
          d: path(at, along(k), chart.x, chart.y),
          fill: "none",
          stroke: classColour(k),
          "stroke-width": 2,
        },
      ));
      body.replaceChildren(chart.root, keys(told.classes.map((name, k) => [name, classColour(k)])));
    },
    table: () => ({
      head: [told.plane.names[0], ...told.classes],
      rows: at.map((value, i) => [text(value), ...range(n).map((k) => fixed(along(k)[i]))]),
    }),
  });
}
