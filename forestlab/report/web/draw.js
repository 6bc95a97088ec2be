// ---- elements, words and colours --------------------------------------------------------------

const SVG = "http://www.w3.org/2000/svg";
const COLOURS = [
  "#4477aa", "#dd4455", "#228833", "#a68a00", "#2191b8", "#c0448a", "#7d7d7d", "#c8621a", "#7b61b8", "#1f8f80",
  "#9a6845", "#6f8f10",
]; // after Paul Tol's bright scheme, each 3 : 1 or more on light and on dark paper
const VIRIDIS = [
  [68, 1, 84],
  [65, 68, 135],
  [42, 120, 142],
  [34, 168, 132],
  [122, 209, 81],
  [253, 231, 37],
];
const SPLITS = { train: "training", valid: "validation", test: "test", oob: "out-of-bag" };

/** An HTML element; texts among the children are texts, never HTML. */
function html(tag, attributes = {}, ...children) {
  return dressed(document.createElement(tag), attributes, children);
}
function svg(tag, attributes = {}, ...children) {
  return dressed(document.createElementNS(SVG, tag), attributes, children);
}
function dressed(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || (value === false && !key.startsWith("aria-"))) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true && !key.startsWith("aria-") ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

/** A number in so many digits. */
function text(value, digits = 4) {
  if (!Number.isFinite(value)) return "–";
  if (value !== 0 && (Math.abs(value) < 1e-4 || Math.abs(value) >= 1e7)) return value.toExponential(digits - 2);
  return String(Number(value.toPrecision(digits)));
}
const fixed = (value, decimals = 3) => (Number.isFinite(value) ? value.toFixed(decimals) : "–");
const counted = (n, noun) => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;
const className = (k) => (k < 0 ? "(not in training)" : told.classes[k]);
const classColour = (k) => (k < 0 ? "#7d7d7d" : COLOURS[k % COLOURS.length]);
const shorter = (words, letters) => (words.length <= letters ? words : `${words.slice(0, letters - 1)}…`);

const rgb = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
const css = ([r, g, b]) => `rgb(${Math.round(r)},${Math.round(g)},${Math.round(b)})`;
const mixed = (from, to, part) => from.map((value, i) => value + (to[i] - value) * part);
const token = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function viridis(part) {
  const place = Math.min(Math.max(part, 0), 1) * (VIRIDIS.length - 1);
  const i = Math.min(Math.floor(place), VIRIDIS.length - 2);
  return mixed(VIRIDIS[i], VIRIDIS[i + 1], place - i);
}

/** Black or white, whichever stands out more: the relative luminance of WCAG 2. */
function inkOn(colour) {
  const [r, g, b] = colour.map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "#000" : "#fff";
}

// ---- panels -----------------------------------------------------------------------------------

/**
 * A picture with its title, how to read it, and the table behind it.
 * show(body) fills it; table(), if there is one, is { head, rows } of texts; title may be a function.
 */
function panel({ title, reading, show, table, on, wide, id }) {
  const body = html("div", { class: "body" });
  const heading = html("h3");
  const words = html("p", { class: "reading" });
  const element = html(
    "section",
    { class: wide ? "panel wide" : "panel", id },
    heading,
    words,
    body,
  );
  const behind = table ? tableBehind(table) : null;
  if (behind) element.append(behind.element);
  const made = {
    element, on,
    draw() {
      heading.textContent = typeof title === "function" ? title() : title;
      words.textContent = typeof reading === "function" ? reading() : reading;
      show(body);
      behind?.draw();
    },
  };
  panels.push(made);
  return element;
}

/** Folded away, and made when it is unfolded. */
function tableBehind(table) {
  const place = html("div", { class: "scroll tall", tabindex: 0 });
  const element = html("details", {}, html("summary", {}, "The numbers behind it"), place);
  const draw = () => {
    if (element.open) place.replaceChildren(plainTable(table()));
  };
  element.addEventListener("toggle", draw);
  return { element, draw };
}

function plainTable({ head, rows }) {
  return html("table", {},
    html(
      "thead",
      {},
      html("tr", {}, head.map((name) => html("th", { scope: "col" }, String(name)))),
    ),
    html(
      "tbody",
      {},
      rows.map((row) => html("tr", {}, row.map((part) => html("td", {}, String(part))))),
    ));
}

/** A labelled list to choose from: [[value, words], …]. */
function select(label, key, choices, value, pick) {
  const options = choices.map(([own, words]) => html(
    "option",
    { value: own, selected: String(own) === String(value) },
    words,
  ));
  return html(
    "label",
    {},
    label,
    html("select", { "data-key": key, onchange: (event) => pick(event.target.value) }, options),
  );
}

function button(words, pick, attributes = {}) {
  return html("button", { type: "button", onclick: pick, ...attributes }, words);
}

/** What colours stand for. */
function keys(pairs) {
  const box = (colour) => html("i", { style: `background:${colour}` });
  const named = pairs.filter(([name]) => name);
  return html("div", {}, named.map(([name, own]) => html("span", { class: "key" }, box(own), name)));
}

/** How wide a picture in here may be, in pixels. */
const widthOf = (body, most = 560) => Math.max(250, Math.min(body.clientWidth || most, most));
