// Small helpers to make elements. Text comes in as text nodes only, so nothing in a record is ever taken for markup.

const SVG = "http://www.w3.org/2000/svg";

/** An element with attributes and children; a string among the children is text. */
function make(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

function makeSvg(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== null) element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

const byId = (id) => document.getElementById(id);

const number = (value) => value.toLocaleString("en-US");

const plural = (count, word) => `${number(count)} ${word}${count === 1 ? "" : "s"}`;

/** A time in the unit that suits it. */
function time(us) {
  if (us === null || us === undefined) return "";
  const size = Math.abs(us);
  if (size < 1000) return `${+us.toPrecision(3)} µs`;
  if (size < 1e6) return `${+(us / 1000).toPrecision(4)} ms`;
  return `${+(us / 1e6).toPrecision(5)} s`;
}

/** What a custom property of the style sheet is now, as a colour that a canvas takes. */
function colour(name) {
  const probe = make("span");
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}

/** A word as a link to its entry at the end of the page. */
const makeTerm = (key, word) => make("a", { class: "term", "data-term": key, href: `#word-${key}` }, word);

/** A table in a box that scrolls; rows are arrays of strings or elements, `flush` has the columns of numbers. */
function makeTable(caption, headings, rows, flush = []) {
  const mark = (index) => (flush.includes(index) ? "number" : null);
  const head = headings.map((text, index) => make("th", { scope: "col", class: mark(index) }, text));
  const body = rows.map((row) => make("tr", {}, ...row.map((text, index) => make("td", { class: mark(index) }, text))));
  const table = make("table", {}, make("caption", { class: "unseen" }, caption));
  table.append(make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...body));
  return make("div", { class: "box", tabindex: "0", role: "region", "aria-label": caption }, table);
}
