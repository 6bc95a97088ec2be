// ---- the rows, and one of them -----------------------------------------------------------------

const truthOf = (i) => told.rows.truth?.[i];
const answerOf = (i, c = cell()) => number(told.rows.answers.answers, i * nCells() + c);
const predictedOf = (i, c = cell()) => told.rows.answers.predicted[i * nCells() + c];
const topOf = (i, c = cell()) => share(told.rows.answers.top[i * nCells() + c]);
const isWrong = (i) => predictedOf(i) !== truthOf(i);

/** The classes that are told of row i, and the probability of the j-th of them. */
const classesOf = (i) => {
  const n = told.rows.answers.classes.shape[1];
  return [...told.rows.answers.classes.subarray(i * n, (i + 1) * n)];
};
const posteriorOf = (i, j, c = cell()) => {
  const { posteriors, classes } = told.rows.answers;
  return share(posteriors[(i * classes.shape[1] + j) * nCells() + c]);
};
const ownShare = (i) => {
  const j = classesOf(i).indexOf(truthOf(i));
  return j < 0 ? 0 : posteriorOf(i, j);
};

function rowValues(i) {
  const { values, columns } = told.rows.features;
  return values.subarray(i * columns.length, (i + 1) * columns.length);
}
function valueWords(i, j) {
  const { levels, columns } = told.rows.features, value = rowValues(i)[j];
  if (Number.isNaN(value)) return "missing";
  const own = levels[columns[j]];
  return own ? (own[value] ?? String(value)) : text(value, 6);
}

/** The least is the most doubtful: wrong rows, then unsure ones. */
function doubt(i) {
  if (!hasClasses()) return told.rows.truth ? -Math.abs(answerOf(i) - truthOf(i)) : answerOf(i);
  const own = classesOf(i).map((k, j) => [k, posteriorOf(i, j)]);
  const others = Math.max(
    0,
    isWrong(i) ? topOf(i) : 0,
    ...own.filter(([k]) => k !== truthOf(i)).map(([, p]) => p),
  );
  return ownShare(i) - others;
}

const ORDERS = {
  doubt: ["", doubt], // named by the task
  number: ["by row number", (i) => told.rows.numbers[i]],
  truth: ["by truth", truthOf],
  predicted: ["by answer", (i) => (hasClasses() ? predictedOf(i) : answerOf(i))],
};

const doubtWords = () => byTask(
  "the wrong and the unsure first",
  "the greatest errors first",
  "the least likely first",
);

function listed() {
  const rows = range(told.rows.numbers.length).filter((i) => {
    if (!hasClasses()) return true;
    if (state.only !== "all" && isWrong(i) !== (state.only === "wrong")) return false;
    return (state.truth === "" || truthOf(i) === Number(state.truth))
      && (state.predicted === "" || predictedOf(i) === Number(state.predicted));
  });
  const by = new Map(rows.map((i) => [i, ORDERS[state.sort][1](i)]));
  return rows.sort((a, b) => by.get(a) - by.get(b) || a - b);
}

function rowsPanel() {
  return panel({
    id: "rows",
    title: () => `Rows of ${judgedName()} at ${where()}`,
    reading: () =>
      byTask(
        "Truth and answer, with the probability of the answer and of the truth. ",
        "Truth, answer and error, in units of the target, and the deviation between trees. ",
        "The logarithm of the density at each row, in nats. ",
      ) + "Choose one to see how it is answered and its way down a tree.",
    on: ["s", "d", "row", "sort", "truth", "predicted", "only", "most"],
    show(body) {
      const rows = listed(), nWrong = hasClasses() ? rows.filter(isWrong).length : 0;
      const orders = Object.entries(ORDERS).filter(([key]) => key !== "truth" || told.rows.truth);
      const choices = html("div", { class: "choices" },
        select(
          "order",
          "sort",
          orders.map(([key, [words]]) => [key, words || doubtWords()]),
          state.sort,
          (sort) => set({ sort }),
        ),
        hasClasses() ? [
          select(
            "rows",
            "only",
            [["all", "all"], ["wrong", "wrong"], ["right", "right"]],
            state.only,
            (only) => set({ only }),
          ),
          select(
            "true",
            "truth",
            [["", "any"], ...told.classes.map((name, k) => [k, name])],
            state.truth,
            (truth) => set({ truth }),
          ),
          select(
            "predicted",
            "predicted",
            [["", "any"], ...told.classes.map((name, k) => [k, name])],
            state.predicted,
            (predicted) => set({ predicted }),
          ),
        ] : null);
      const shown = rows.slice(0, state.most);
      const more = rows.length > shown.length ? button(
        `show more of ${counted(rows.length, "row")}`,
        () => set({ most: state.most + 100 }),
        { "data-key": "more" },
      ) : null;
      body.replaceChildren(choices, html(
        "p",
        { class: "note", role: "status" },
        counted(rows.length, "row") + (hasClasses() ? `, ${nWrong} of them wrong` : ""),
      ),
        html("div", { class: "scroll tall" }, rowsTable(shown)), more ?? "");
    },
  });
}

function rowsTable(rows) {
  const { image } = told.rows.features;
  const head = [
    ...(image ? ["image"] : []),
    "row",
    ...byTask(
      ["true", "predicted", "p(answer)", "p(true)"],
      ["true", "predicted", "error", "trees ±"],
      ["log density"],
    ),
  ];
  const cells = (i) => {
    if (hasClasses()) return [
      html("td", {}, className(truthOf(i))),
      html(
        "td",
        { class: isWrong(i) ? "wrong" : "" },
        className(predictedOf(i)),
        isWrong(i) ? " ✗" : "",
      ),
      html("td", {}, fixed(topOf(i), 2)),
      html("td", {}, truthOf(i) < 0 ? "–" : fixed(ownShare(i), 2)),
    ];
    if (!told.rows.truth) return [html("td", {}, text(answerOf(i)))];
    return [
      truthOf(i),
      answerOf(i),
      answerOf(i) - truthOf(i),
      number(told.rows.answers.between, i * nCells() + cell()),
    ].map((value) => html("td", {}, text(value)));
  };
  const lines = rows.map((i) => html("tr", {
    class: state.row === i ? "chosen" : "",
    onclick: () => set({ row: i }),
  },
    image ? html("td", {}, picture(i, 28)) : null,
    html(
      "td",
      {},
      button(
        String(told.rows.numbers[i]),
        () => set({ row: i }),
        {
          "aria-pressed": state.row === i,
          "data-key": `row ${i}`,
          "data-row": i,
          "aria-label": `row ${told.rows.numbers[i]}`,
        },
      ),
    ), cells(i)));
  const table = html(
    "table",
    {},
    html("thead", {}, html("tr", {}, head.map((name) => html("th", { scope: "col" }, name)))),
    html("tbody", {}, lines),
  );
  table.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const buttons = [...table.querySelectorAll("[data-row]")];
    const next = buttons[buttons.indexOf(document.activeElement) + (step ?? 0)];
    if (!step || !next) return;
    event.preventDefault();
    next.focus();
    set({ row: Number(next.dataset.row) });
  });
  return table;
}

/** A row as an image. */
function picture(i, side) {
  const [height, width] = told.rows.features.image, scale = side / Math.max(width, height);
  const values = rowValues(i), [low, high] = extent(values);
  const canvas = html(
    "canvas",
    {
      width,
      height,
      class: "image",
      role: "img",
      "aria-label": `image of row ${told.rows.numbers[i]}`,
      style: `width:${Math.round(width * scale)}px;height:${Math.round(height * scale)}px`,
    },
  );
  const context = canvas.getContext("2d"), image = context.createImageData(width, height);
  values.forEach((value, k) => {
    const grey = Number.isNaN(value) ? 0 : (255 * (value - low)) / (high - low || 1);
    image.data.set([grey, grey, grey, 255], 4 * k);
  });
  context.putImageData(image, 0, 0);
  return canvas;
}

// ---- one row ----------------------------------------------------------------------------------

const answerName = () => byTask("Probabilities", "Answer", "Log density");
const rowTitle = () => `row ${told.rows.numbers[state.row]}`;

function rowPanel() {
  return panel({
    id: "row",
    title: () => (state.row === null ? "One row" : `${answerName()} of ${rowTitle()} at ${where()}`),
    reading: () => byTask(
      "What the forest gives each class, a share from 0 to 1.",
      "The mean of the trees, and how far they differ, in units of the target.",
      "The logarithm of the density there, in nats.",
    ),
    on: ["s", "d", "row"],
    show(body) {
      if (state.row === null) return body.replaceChildren(html("p", {}, "Choose a row in the table."));
      const i = state.row, { image } = told.rows.features;
      body.replaceChildren(html(
        "div",
        { class: "row-head" },
        image ? picture(i, 96) : null,
        hasClasses() ? classBars(i) : numberWords(i),
      ),
        image ? "" : html(
          "details",
          { open: told.rows.features.columns.length <= 6 },
          html("summary", {}, `Its ${counted(told.rows.features.columns.length, "feature")}`),
          html(
            "div",
            { class: "scroll tall", tabindex: 0 },
            plainTable({
              head: ["feature", "value"],
              rows: told.rows.features.names.map((name, j) => [name, valueWords(i, j)]),
            }),
          ),
        ));
    },
  });
}

function classBars(i) {
  const own = classesOf(i).map((k, j) => [k, posteriorOf(i, j)]).sort((a, b) => b[1] - a[1]);
  const rest = 1 - own.reduce((sum, [, p]) => sum + p, 0);
  const lines = own.map(([k, p]) => classBar(className(k), p, classColour(k), k === truthOf(i)));
  if (rest > 0.01) lines.push(classBar("others", rest, "var(--quiet)", false));
  if (truthOf(i) < 0) lines.push(html("tr", {}, html("td", {}, "its class is not in training")));
  const head = ["class", "probability"].map((name) => html("th", { scope: "col" }, name));
  return html(
    "table",
    {},
    html("thead", {}, html("tr", {}, head, html("td"))),
    html("tbody", {}, lines),
  );
}

function classBar(name, p, colour, isTrue) {
  const filling = html("i", { style: `width:${100 * p}%;background:${colour}` });
  return html(
    "tr",
    {},
    html("td", {}, name, isTrue ? " (true)" : ""),
    html("td", {}, fixed(p)),
    html("td", {}, html("span", { class: "bar", "aria-hidden": "true" }, filling)),
  );
}

function numberWords(i) {
  const { between, total } = told.rows.answers, at = i * nCells() + cell();
  const lines = [[told.rows.truth ? "predicted" : "log density", text(answerOf(i))]];
  if (told.rows.truth) lines.push(
    ["true", text(truthOf(i))],
    ["error", text(answerOf(i) - truthOf(i))],
    ["± between trees", text(number(between, at))],
    ["± with their leaves", text(number(total, at))],
  );
  return html(
    "table",
    {},
    html(
      "tbody",
      {},
      lines.map(([name, value]) => html(
        "tr",
        {},
        html("th", { scope: "row" }, name),
        html("td", {}, value),
      )),
    ),
  );
}

/** Lines of one row along depth or number of trees. */
function rowLines(along) {
  const i = state.row, cells = along === "d"
    ? range(nDepths()).map((d) => cell(state.s, d))
    : range(nSizes()).map((s) => cell(s, state.d));
  if (hasClasses()) {
    return classesOf(i).map((k, j) => ({
      name: `${className(k)}${k === truthOf(i) ? " (true)" : ""}`,
      colour: classColour(k),
      heavy: k === truthOf(i),
      values: cells.map((c) => posteriorOf(i, j, c)),
    }))
      .filter((line) => line.heavy || Math.max(...line.values) >= 0.05);
  }
  const mean = cells.map((c) => answerOf(i, c));
  if (!told.rows.truth) return [
    { name: "log density", colour: "var(--accent)", heavy: true, values: mean },
  ];
  const apart = cells.map((c) => number(told.rows.answers.between, i * nCells() + c));
  return [
    { name: "mean of the trees", colour: "var(--accent)", heavy: true, values: mean },
    ...(isForest() ? [
      {
        name: "± one standard deviation between trees",
        colour: "var(--quiet)",
        dashed: true,
        values: mean.map((m, k) => m + apart[k]),
      },
      { name: "", colour: "var(--quiet)", dashed: true, values: mean.map((m, k) => m - apart[k]) },
    ] : []),
    { name: "true", colour: "var(--valid)", values: cells.map(() => truthOf(i)) },
  ];
}

function rowCurvePanel(along) {
  const byDepth = along === "d";
  const axis = byDepth ? "depth" : "number of trees";
  return panel({
    title: () => (state.row === null ? `By ${axis}` : `${answerName()} of ${rowTitle()} by ${axis}`),
    reading: () => byTask(
      "One line a class that is ever given 0.05 or more, its true class heavy; shares, 0 to 1.",
      "The line is the answer, in units of the target; dashed, one standard deviation " +
        "between trees.",
      "The line is the logarithm of the density there, in nats.",
    ),
    on: ["s", "d", "row"],
    show(body) {
      if (state.row === null) return body.replaceChildren();
      gridLines(
        body,
        {
          along,
          lines: rowLines(along).filter((line) => line.values),
          name: byTask("probability", "target", "log density"),
          label: `${answerName()} of ${rowTitle()}`,
          from: hasClasses() ? [0, 1] : undefined,
        },
      );
    },
    table: () => (state.row === null ? { head: [], rows: [] } : linesTable(along, rowLines(along))),
  });
}
