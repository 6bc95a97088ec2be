// ---- the trees ---------------------------------------------------------------------------------

/** The nodes of the chosen tree, by their numbers in it. */
const firstNode = () => told.trees.first[state.tree];
const nTold = () => told.trees.first.length - 1;
const skipOf = (i) => told.trees.skip[firstNode() + i];
// the page does not go on below
const isCut = (i) => skipOf(i) === 0 && told.trees.text[firstNode() + i] > 0;
const questionOf = (i) => told.trees.texts[told.trees.text[firstNode() + i]];
let entries = null; // where the classes of each node of all trees begin

/** The nodes on the chosen row's way, from the root; () without a row. */
function wayOf(row) {
  if (row === null) return [];
  const end = told.trees.ends[state.tree * told.trees.ends.shape[1] + row], way = [0];
  while (way.at(-1) !== end) {
    const i = way.at(-1), right = i + skipOf(i);
    // in preorder all that is left stands before all that is right
    way.push(end < right ? i + 1 : right);
  }
  return way;
}

/** [class, weight] of those that are in node i, the heaviest first. */
function weightsOf(i) {
  const { n_classes, classes, weights } = told.trees;
  if (entries === null) {
    entries = new Uint32Array(n_classes.length + 1);
    n_classes.forEach((n, k) => { entries[k + 1] = entries[k] + n; });
  }
  const from = entries[firstNode() + i], to = entries[firstNode() + i + 1];
  return range(to - from).map((k) => [classes[from + k], weights[from + k]]).sort((a, b) => b[1] - a[1]);
}

/** What node i answers, and what is known of its rows. */
function answerWords(i) {
  if (hasClasses()) return className(weightsOf(i)[0][0]);
  if (told.trees.mean) return text(told.trees.mean[firstNode() + i]);
  return counted(told.trees.rows[firstNode() + i], "row");
}
function factWords(i) {
  const rows = counted(told.trees.rows[firstNode() + i], "row");
  if (hasClasses()) {
    const own = weightsOf(i);
    const shown = own.slice(0, 4).map(([k, w]) => `${className(k)}: ${text(w)}`);
    return `${rows}; ${shown.join(", ")}${own.length > 4 ? ` and ${own.length - 4} more` : ""}`;
  }
  if (!told.trees.mean) return rows;
  const mean = told.trees.mean[firstNode() + i], deviation = told.trees.deviation[firstNode() + i];
  return `${rows}; mean ${text(mean)} ± ${text(deviation, 3)}`;
}
function allWords(i) {
  const impurity = `impurity ${text(told.trees.impurity[firstNode() + i])}`;
  return hasClasses()
    ? `${weightsOf(i).map(([k, w]) => `${className(k)}: ${text(w)}`).join(", ")}; ${impurity}`
    : impurity;
}

/** The shares of its classes. */
function bar(i) {
  const own = weightsOf(i), total = own.reduce((sum, [, w]) => sum + w, 0);
  return html(
    "span",
    { class: "bar", "aria-hidden": "true" },
    own.map(([k, w]) => html(
      "i",
      { style: `width:${(100 * w) / total}%;background:${classColour(k)}` },
    )),
  );
}

function treePanel() {
  return panel({
    id: "tree", wide: true,
    title: () => `Tree ${state.tree + 1} of ${told.trees.n_all}`,
    reading: () =>
      `A node asks a question: rows for which it holds go to "yes", the others to "no". Beside ` +
      `it stand its training rows${nodeReading()}. Unfold with a click, Enter or →, fold with ←. ` +
      "The chosen row's way is lit.",
    on: ["tree", "open", "row", "d", "s"],
    show(body) {
      const way = wayOf(state.row), nodes = nodeItem(0, 0, "", new Set(way));
      const list = { class: "tree", "aria-label": `tree ${state.tree + 1}`, onkeydown: treeKeys };
      body.replaceChildren(
        treeChoices(),
        keys(told.classes.slice(0, 20).map((name, k) => [name, classColour(k)])),
        wayWords(way),
        html("p", { class: "note" }, treeNotes(way).join(" ")),
        overview(body, way),
        html("div", { class: "scroll" }, html("ul", list, nodes)),
      );
    },
  });
}

const nodeReading = () =>
  byTask(
    ", the weight of its classes (a row drawn twice counts twice), and their shares as a bar",
    ", and their mean ± standard deviation, in units of the target",
    "",
  );

/** What is to be known of the chosen tree where the sliders are. */
function treeNotes(way) {
  const asked = counted(size(), "tree"), notes = [];
  if (state.tree >= size()) notes.push(`It is not among the first ${asked} that the slider asks.`);
  if (state.d < nDepths() - 1) {
    notes.push(`Nodes below depth ${depth()}, where the slider cuts, are in italics.`);
  }
  if (told.branches && way.length) {
    notes.push("Where a value is missing, a row goes both ways: lit is where most of it goes.");
  }
  return notes;
}

// ---- the whole tree at a glance ----------------------------------------------------------------

/** Where the nodes of the chosen tree stand in a picture as wide as 1: { x, width, level } of each. */
function places() {
  const found = [], waiting = [[0, 0, 1, 0]], rowsIn = (i) => told.trees.rows[firstNode() + i];
  while (waiting.length) {
    const [i, x, width, level] = waiting.pop();
    found[i] = { x, width, level };
    if (skipOf(i) === 0) continue;
    const left = i
      + 1, right = i
      + skipOf(i), part = rowsIn(left) / (rowsIn(left) + rowsIn(right) || 1);
    waiting.push(
      [left, x, width * part, level + 1],
      [right, x + width * part, width * (1 - part), level + 1],
    );
  }
  return found;
}

/** The colour of node i: its heaviest class, the paler the more mixed; or its mean. */
function nodeColour(i, paperColour, [low, high]) {
  if (isDensity()) return mixed(paperColour, rgb(token("--accent")), 0.3);
  if (!hasClasses()) return viridis((told.trees.mean[firstNode() + i] - low) / (high - low || 1));
  const own = weightsOf(i), total = own.reduce((sum, [, w]) => sum + w, 0);
  return mixed(paperColour, rgb(classColour(own[0][0])), 0.12 + (0.8 * own[0][1]) / total);
}

/** Every node as a box, as wide as its share of training rows, below the one that it came from. */
function overview(body, way) {
  const found = places(), width = widthOf(body, 1300), n = found.length;
  const levels = 1 + found.reduce((most, place) => Math.max(most, place.level), 0);
  const tall = Math.max(5, Math.min(18, Math.floor(240 / levels))), sharp = devicePixelRatio || 1;
  const canvas = html(
    "canvas",
    {
      width: width * sharp,
      height: levels * tall * sharp,
      class: "picks",
      role: "img",
      style: `width:${width}px;height:${levels * tall}px`,
      "aria-label":
        `Overview of tree ${state.tree + 1}: ${counted(n, "node")} on ` +
        `${counted(levels, "level")}`,
    },
  );
  const context = canvas.getContext("2d"), paperColour = rgb(token("--card"));
  const means = told.trees.mean
    ? extent(told.trees.mean.subarray(firstNode(), firstNode() + n))
    : [0, 1];
  context.scale(sharp, sharp);
  found.forEach(({ x, width: wide, level }, i) => {
    context.globalAlpha = level > depth() ? 0.35 : 1;
    context.fillStyle = css(nodeColour(i, paperColour, means));
    context.fillRect(
      x * width,
      level * tall,
      Math.max(wide * width - (wide * width > 3 ? 1 : 0), 0.4),
      tall - 1,
    );
  });
  context.globalAlpha = 1;
  context.strokeStyle = token("--ink");
  context.lineWidth = 2;
  for (const i of way) context.strokeRect(
    found[i].x * width + 1,
    found[i].level * tall,
    Math.max(found[i].width * width - 2, 2),
    tall - 1,
  );
  canvas.addEventListener("click", (event) => {
    const box = canvas.getBoundingClientRect();
    const x = (event.clientX - box.left) / box.width, level = Math.floor((event.clientY - box.top) / tall);
    // The nodes above the one that was hit are those that it stands below.
    const holds = (place) => place.level <= level && x >= place.x && x < place.x + place.width;
    const above = range(n).filter((i) => holds(found[i]));
    set({ open: new Set([...state.open, ...above]) });
  });
  const colours = byTask(
    "its colour is its heaviest class, the paler the more mixed",
    "the brighter, the greater its mean",
    "all of one colour",
  );
  return html(
    "details",
    { open: true },
    html(
      "summary",
      {},
      `The whole tree: ${counted(n, "node")}. Each box is a node, as wide as its share of ` +
        `the training rows; ${colours}. A click unfolds it below.`,
    ),
    canvas,
  );
}

function treeChoices() {
  const go = (tree) => set({ tree: Math.min(Math.max(tree, 0), nTold() - 1), open: new Set([0]) });
  const several = nTold() > 1 ? [
    html(
      "label",
      {},
      "tree",
      html(
        "input",
        {
          type: "number",
          min: 1,
          max: nTold(),
          value: state.tree + 1,
          "data-key": "tree",
          onchange: (event) => go(Number(event.target.value) - 1),
        },
      ),
    ),
    button(
      "‹ before",
      () => go(state.tree - 1),
      { "data-key": "before" },
    ), button("next ›", () => go(state.tree + 1), { "data-key": "next" }),
  ] : [];
  return html("div", { class: "choices" }, several,
    state.row !== null ? button(
      "unfold the row's way",
      () => set({ open: new Set(wayOf(state.row)) }),
      { "data-key": "way" },
    ) : null,
    button("unfold 3 levels", () => set({ open: new Set(upper(0, 3)) }), { "data-key": "levels" }),
    button("fold all", () => set({ open: new Set() }), { "data-key": "fold" }));
}

/** The nodes of the upper levels. */
const upper = (i, levels) => (levels === 0 || skipOf(i) === 0 ? [] : [
  i,
  ...upper(i + 1, levels - 1),
  ...upper(i + skipOf(i), levels - 1),
]);

function nodeItem(i, level, edge, lit) {
  const leaf = skipOf(i) === 0, isOpen = state.open.has(i) && !leaf;
  const words = leaf && !isCut(i) ? `→ ${answerWords(i)}` : `${questionOf(i)}?`;
  const toggle = () => {
    if (leaf) return;
    const open = new Set(state.open);
    if (!open.delete(i)) open.add(i);
    set({ open });
  };
  const attributes = {
    "aria-expanded": leaf ? undefined : isOpen,
    "aria-current": lit.has(i) ? "step" : undefined,
    "data-key": `node ${i}`,
    "data-node": i,
    "data-leaf": leaf,
    title: allWords(i),
  };
  const line = html(
    "div",
    { class: lit.has(i) ? "node lit" : "node" },
    edge ? html("span", { class: "edge" }, edge) : null,
    button(`${leaf ? "" : isOpen ? "▾ " : "▸ "}${words}`, toggle, attributes),
    hasClasses() ? bar(i) : null,
    html(
      "span",
      { class: "facts" },
      factWords(i),
      isCut(i) ? "; what stands below is left out" : "",
      level === depth() && !leaf ? `; answers ${answerWords(i)} at this depth` : "",
    ),
  );
  const children = isOpen ? html(
    "ul",
    {},
    nodeItem(i + 1, level + 1, "yes", lit),
    nodeItem(i + skipOf(i), level + 1, "no", lit),
  ) : null;
  return html("li", { class: level > depth() ? "deeper" : "" }, line, children);
}

/** Up and down go from node to node, right unfolds, left folds or goes up. */
function treeKeys(event) {
  const here = document.activeElement;
  if (here.dataset.node === undefined) return;
  const nodes = [...event.currentTarget.querySelectorAll("[data-node]")], at = nodes.indexOf(here);
  const isOpen = here.getAttribute("aria-expanded");
  if (event.key === "ArrowDown") nodes[at + 1]?.focus();
  else if (event.key === "ArrowUp") nodes[at - 1]?.focus();
  else if (event.key === "ArrowRight") isOpen === "false" ? here.click() : nodes[at + 1]?.focus();
  else if (event.key === "ArrowLeft") isOpen === "true"
    ? here.click()
    : parentButton(here)?.focus();
  else return;
  event.preventDefault();
}
const parentButton = (here) => here.closest("li").parentElement.closest("li")?.querySelector("[data-node]");

/** The row's way in words, down to the depth that is chosen. */
function wayWords(way) {
  if (!way.length) return "";
  const shown = way.slice(0, depth() + 1), columns = [...told.rows.features.columns];
  const steps = shown.slice(0, -1).map((i, k) => {
    const column = columns.indexOf(told.trees.feature[firstNode() + i] - 1), yes = way[k + 1] === i
      + 1;
    return html(
      "li",
      {},
      `${questionOf(i)}? `,
      column < 0 ? "" : `${valueWords(state.row, column)} `,
      html("span", { class: "answer" }, `→ ${yes ? "yes" : "no"}`),
    );
  });
  const end = shown.at(-1);
  return html("details", { open: true }, html(
    "summary",
    {},
    `The way of ${rowTitle()} down this tree: ${counted(steps.length, "question")}, then ` +
      `${answerWords(end)}`,
  ),
    html(
      "ol",
      { class: "way" },
      steps,
      html("li", {}, html("span", { class: "answer" }, answerWords(end)), ` (${factWords(end)})`),
    ));
}
