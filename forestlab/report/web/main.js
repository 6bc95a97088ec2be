// ---- the page ----------------------------------------------------------------------------------

function slider(key, label, numbers, words) {
  const input = html(
    "input",
    {
      type: "range",
      id: `slider-${key}`,
      min: 0,
      max: numbers.length - 1,
      step: 1,
      oninput: (event) => set({ [key]: Number(event.target.value) }),
    },
  );
  const output = html("output", { for: input.id });
  const draw = () => {
    input.value = state[key];
    output.textContent = words(numbers[state[key]]);
    input.setAttribute("aria-valuetext", output.textContent);
  };
  const element = html(
    "div",
    { class: "slider" },
    html("label", { for: input.id }, label),
    output,
    input,
  );
  panels.push({ element, draw, on: [key] });
  return element;
}

function controls() {
  const last = told.depths.at(-1);
  const parts = [slider("d", "Depth", told.depths, (n) => `${n} of ${last}`)];
  if (isForest()) parts.push(slider(
    "s",
    "Number of trees",
    told.sizes,
    (n) => `${n} of ${told.sizes.at(-1)}`,
  ));
  const line = html("div", { class: "told", role: "status", "aria-live": "polite" });
  const jumps = html("div", { class: "told" });
  const ends = { s: nSizes() - 1, d: nDepths() - 1 };
  if (told.chosen) {
    const place = nearest(told.depths, told.chosen.depth);
    const words = `depth ${told.chosen.depth}: ${SPLITS[told.chosen.split]}'s choice`;
    jumps.append(button(words, () => set({ ...ends, d: place })));
  }
  jumps.append(button(isForest() ? "all trees, full depth" : "full depth", () => set(ends)));
  jumps.append(playButton());
  panels.push({ element: line, on: ["s", "d"], draw() {
    const main = metricOf(told.main);
    line.replaceChildren(
      html("span", {}, `${main.name}:`),
      ...splits().map((split) => html(
        "span",
        {},
        `${SPLITS[split]} `,
        html("b", { style: `color:${splitColour(split)}` }, fixed(valueAt(split, told.main))),
      )),
    );
  } });
  return html(
    "div",
    { role: "group", "aria-label": isForest() ? "Depth and number of trees" : "Depth" },
    html("div", { class: "sliders" }, parts),
    html("div", { class: "told" }, line, jumps),
  );
}

/** Goes down from the root, a depth at a time, until the deepest or another press. */
function playButton() {
  let running = null;
  const stop = () => {
    clearInterval(running);
    running = null;
    one.textContent = "▶ grow";
  };
  const one = button("▶ grow", () => {
    if (running !== null) return stop();
    one.textContent = "❚❚ stop";
    set({ d: 0 });
    running = setInterval(
      () => (state.d < nDepths() - 1 && one.isConnected ? set({ d: state.d + 1 }) : stop()),
      500,
    );
  }, { title: "Go through the depths, from the root on" });
  return one;
}

const section = (title, ...parts) => html("section", {}, html("h2", {}, title), ...parts);
const grid = (...parts) => html("div", { class: "panels" }, parts.filter(Boolean));

/** The sections that have something to say of this target. */
function sections() {
  const { judged, rows, plane, trees } = told, found = [];
  found.push(section(
    "How good it is",
    surfaceChoices(),
    grid(
      metricsPanel(),
      isForest() ? surfacePanel() : null,
      curvesPanel("d"),
      isForest() ? curvesPanel("s") : null,
    ),
  ));
  const answers = grid(
    plane ? planePanel() : null,
    judged?.confusion ? confusionPanel() : null,
    judged ? calibrationPanel() : null,
    told.task === "regression" && rows ? scatterPanel() : null,
  );
  if (answers.children.length) found.push(section("What it answers", answers));
  if (rows) found.push(section(
    "Row by row",
    grid(rowsPanel(), rowPanel(), rowCurvePanel("d"), isForest() ? rowCurvePanel("s") : null),
  ));
  if (trees) found.push(section("Tree by tree", grid(treePanel())));
  return found;
}

function notes(all) {
  const rounded = told.rows ? [
    "Of rows, probabilities are rounded to 0.004, numbers to 1/65534 of their range; " +
      "metrics, counts and shares of rows are not.",
  ] : [];
  const said = [...all, ...told.notes, ...rounded];
  return section(
    "What is not here",
    html(
      "ul",
      {},
      said.map((note) => html("li", {}, note)),
      html(
        "li",
        {},
        "All that a run logs beside this page, as tables and pictures, is among its artifacts.",
      ),
    ),
  );
}

function show(content) {
  panels = [];
  entries = null;
  told = content.targets[state.target];
  Object.assign(
    state,
    {
      s: nSizes() - 1,
      d: nDepths() - 1,
      metric: told.main,
      row: null,
      tree: 0,
      open: new Set([0]),
      truth: "",
      predicted: "",
      only: "all",
      most: 30,
      sort: "doubt",
    },
  );
  state.split = ["test", "valid", "oob", "train"].find((split) => split in told.surfaces);
  if (told.rows) state.row = listed()[0] ?? null;
  if (told.trees) state.open = new Set(state.row === null ? [0] : wayOf(state.row));
  const own = Object.entries(told.splits).filter(([split]) => split !== "oob");
  const counts = own.map(([split, n]) => `${n.toLocaleString("en")} ${SPLITS[split]}`);
  document.getElementById("summary").textContent =
    `${told.task}${told.classes.length ? ` of ${told.classes.length} classes` : ""}; ` +
    `${counted(told.sizes.at(-1), "tree")}, the deepest has depth ${told.depths.at(-1)}; rows: ` +
    `${counts.join(", ")}. Everything below is read from this one fit: move the sliders.`;
  const choice = content.targets.length > 1 ? html(
    "div",
    { class: "choices" },
    select(
      "target",
      "target",
      content.targets.map((one, k) => [k, one.name]),
      state.target,
      (target) => { state.target = Number(target); show(content); },
    ),
  ) : "";
  document.getElementById("controls").replaceChildren(choice, controls());
  document.getElementById("main").replaceChildren(...sections(), notes(content.notes));
  for (const panel of panels) panel.draw();
}

/** A page that cannot be shown says why. */
function fail(error) {
  const words = typeof DecompressionStream === "undefined"
    ?
      "This browser is too old to unpack the page: it has no DecompressionStream (Chrome 80, " +
      "Firefox 113, Safari 16.4 or newer do)."
    : `This page cannot be shown: ${error.message}`;
  document.getElementById("main").replaceChildren(html("p", { role: "alert" }, words));
  throw error;
}

unpacked(document.getElementById("data").textContent).then((content) => {
  show(content);
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth === width) return;
    width = innerWidth;
    for (const panel of panels) drawKept(panel);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => panels.forEach(drawKept));
}).catch(fail);
