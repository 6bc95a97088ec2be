// ---- what is chosen, and who is told when it changes ------------------------------------------

/** s and d: the numbers of a size and a depth on the grid; row: among those listed, or null. */
const state = {
  target: 0, s: 0, d: 0, split: "test", metric: "", row: null, tree: 0,
  open: new Set(), sort: "doubt", down: true, truth: "", predicted: "", only: "all", most: 30,
};
let told = null; // what is shown of the chosen target
let panels = []; // { element, draw, on }: on names the keys of the state that it follows
let waiting = null; // the keys that have changed since the page was drawn

/** Change what is chosen; panels that follow it are drawn once before the screen is. */
function set(change) {
  const keys = Object.keys(change).filter((key) => change[key] !== state[key] || key === "open");
  Object.assign(state, change);
  if (waiting === null) {
    waiting = new Set();
    requestAnimationFrame(redraw);
  }
  keys.forEach((key) => waiting.add(key));
}

function redraw() {
  const keys = waiting;
  waiting = null;
  for (const panel of panels) if (panel.on.some((key) => keys.has(key))) drawKept(panel);
}

/** Draw a panel; what has the focus keeps it, and what is scrolled stays where it is. */
function drawKept(panel) {
  const active = document.activeElement;
  const key = panel.element.contains(active) ? active.dataset.key : undefined;
  const scrolled = [
    ...panel.element.querySelectorAll(".scroll"),
  ].map((one) => [one.scrollTop, one.scrollLeft]);
  panel.draw();
  [...panel.element.querySelectorAll(".scroll")].forEach((one, i) => {
    if (scrolled[i]) [one.scrollTop, one.scrollLeft] = scrolled[i];
  });
  if (key !== undefined) panel.element.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus();
}

// ---- cells ------------------------------------------------------------------------------------

const nSizes = () => told.sizes.length;
const nDepths = () => told.depths.length;
const nCells = () => nSizes() * nDepths();
const cell = (s = state.s, d = state.d) => s * nDepths() + d;
const depth = () => told.depths[state.d];
const size = () => told.sizes[state.s];
const metricOf = (key) => told.metrics.find((metric) => metric.key === key);
const hasClasses = () => told.task === "classification";
const isDensity = () => told.task === "density";
/** What holds for classes, for numbers, or for a density. */
const byTask = (classes, numbers, density) => (hasClasses() ? classes : isDensity() ? density : numbers);
const isForest = () => nSizes() > 1;
const where = () => `depth ${depth()}${isForest() ? `, ${counted(size(), "tree")}` : ""}`;

/** The place of the nearest of rising numbers. */
function nearest(numbers, wanted, apart = (a, b) => Math.abs(a - b)) {
  let best = 0;
  for (let i = 1; i < numbers.length; i++) {
    if (apart(numbers[i], wanted) < apart(numbers[best], wanted)) best = i;
  }
  return best;
}
