// The lanes of a timeline, drawn as SVG: a charting library has no lanes with bars inside bars, signs between them and
// lines across, and what is drawn here can be read at any zoom and on paper.

const BAR_HEIGHT = 15;
const POINT_ROW = 18;
const LANE_GAP = 12;
const HEAD_ROW = 15;
const MOST_DEPTH = 5;
const LEAST_BAR = 2.5;
const RIGHT_EDGE = 14;
const LETTER = 7; // about as wide as letters are
const LETTER_IN_BAR = 6;

// Names below a lane: their angle, the room that they take, and the narrowest bar that has one.
const NAME_ANGLE = 55;
const NAME_ROOM = 150;
const NAME_ROW = 128;
const LEAST_NAMED = 13;

// Of each kind its name in the legend, whether it is a bar, and its entry among the words. What has no duration is a
// sign in any case.
const KINDS = {
  call: ["driver call", true, "call"],
  destructor: ["destructor", true, "destructor"],
  "host-function": ["host function", true, "host-function"],
  drain: ["drain", true, "drain"],
  context: ["announced stretch", true, "context"],
  "pending-call": ["wakeup (pending call)", false, "pending-call"],
  release: ["release", false, "release"],
  step: ["step", false, "step"],
  fault: ["fault", false, "fault"],
  finding: ["finding", false, "finding-mark"],
};

/** Signs tell the kinds apart without colour. */
function makeSign(kind, x, y) {
  const at = `translate(${x.toFixed(1)} ${y})`;
  const path = (d) => makeSvg("path", { d, transform: at, class: `dot-${kind}` });
  switch (kind) {
    case "pending-call": return path("M0-6L6 5H-6Z");
    case "release": return makeSvg("circle", { r: 4.5, transform: at, class: "dot-release" });
    case "step": return path("M0-6V6");
    case "fault": return path("M-5-5L5 5M5-5L-5 5");
    case "finding": return path("M0-7L7 0L0 7L-7 0Z");
    default: return makeSvg("circle", { r: 3, transform: at, class: "dot-other" });
  }
}

function makeBar(kind, x, y, width) {
  const place = { x: x.toFixed(1), y, width: Math.max(width, LEAST_BAR).toFixed(1), height: BAR_HEIGHT };
  const pattern = { destructor: "url(#hatch-destructor)", "host-function": "url(#hatch-host)" }[kind];
  return makeSvg("rect", { ...place, rx: 1.5, class: `bar-${KINDS[kind] ? kind : "context"}`, fill: pattern });
}

/** Hatches for the two kinds of callback, in two directions. */
function makePatterns() {
  const hatch = (id, d) =>
    makeSvg(
      "pattern",
      { id, width: 6, height: 6, patternUnits: "userSpaceOnUse" },
      makeSvg("rect", { width: 6, height: 6, class: "hatch-back" }),
      makeSvg("path", { d, class: "hatch" }),
    );
  const up = hatch("hatch-destructor", "M-1 7L7-1M-1 1L1-1M5 7L7 5");
  return makeSvg("defs", {}, up, hatch("hatch-host", "M0 0V6M3 0V6"));
}

/** Of what is there: the kinds, and the ways in which a mark is drawn. */
function makeLegend(marks, objects) {
  const kinds = new Set(marks.map((mark) => mark.kind));
  const items = Object.entries(KINDS)
    .filter(([kind]) => kinds.has(kind))
    .map(([kind, [word, bar, key]]) => legendItem(key, word, bar ? makeBar(kind, 1, 1, 22) : makeSign(kind, 12, 8)));
  if (marks.some((mark) => isBar(mark) && mark.result)) {
    items.push(legendItem("result", "did not succeed", makeBar("call", 1, 1, 22), makeStrike(1, 23, 1)));
  }
  if (marks.some((mark) => mark.moments.length > 1)) {
    items.push(legendItem("fold", "equal ones in a row", ...makeFold("call", 1, 1, 22)));
  }
  if (objects.size) {
    const bar = makeBar("call", 1, 1, 22);
    bar.classList.add("about");
    items.push(legendItem("object", `about ${[...objects].slice(0, 3).join(", ")}`, bar));
  }
  return items;
}

function legendItem(key, word, ...drawn) {
  const picture = makeSvg("svg", { width: 24, height: 17, "aria-hidden": "true" }, ...drawn);
  return make("li", {}, picture, makeTerm(key, word));
}

/** A call that did not succeed is struck out. */
const makeStrike = (x, end, top) =>
  makeSvg("path", { class: "refused", d: `M${x.toFixed(1)} ${top + BAR_HEIGHT}L${end.toFixed(1)} ${top}` });

/** A bar cut into several. */
function makeFold(kind, x, y, width) {
  const cuts = [0.2, 0.4, 0.6, 0.8].map((share) => `M${(x + width * share).toFixed(1)} ${y}v${BAR_HEIGHT}`);
  return [makeBar(kind, x, y, width), makeSvg("path", { class: "cuts", d: cuts.join("") })];
}

const isBar = (moment) => moment.us !== null && (KINDS[moment.kind]?.[1] ?? true);

/** One lane a thread; a bar inside another goes one row down. */
function layLanes(marks) {
  const lanes = new Map();
  for (const moment of marks) {
    if (!lanes.has(moment.thread)) lanes.set(moment.thread, { thread: moment.thread, moments: [], open: [], depth: 1 });
    const lane = lanes.get(moment.thread);
    lane.moments.push(moment);
    if (!isBar(moment)) continue;
    lane.open = lane.open.filter((outer) => outer.end > moment.at);
    moment.row = Math.min(lane.open.length, MOST_DEPTH - 1);
    lane.open.push(moment);
    lane.depth = Math.max(lane.depth, moment.row + 1);
  }
  return [...lanes.values()];
}

const textWidth = (text) => text.length * LETTER_IN_BAR + 6;

/** What stands in a bar. */
function nameOf(mark) {
  const name = mark.name.replace(/^cu(?=[A-Z])/, "");
  return mark.moments.length > 1 ? `${number(mark.moments.length)} × ${name}` : name;
}

/** As much of a text as goes into a bar; nothing if that would say nothing. */
function shortened(text, room) {
  const letters = Math.floor((room - 6) / LETTER_IN_BAR);
  if (letters < Math.min(text.length, 5)) return "";
  return text.length > letters ? `${text.slice(0, letters - 1)}…` : text;
}

/** Round numbers between two ends, about so many. */
function ticks(from, to, about) {
  const rough = (to - from) / about;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough);
  const first = Math.ceil(from / step) * step;
  return Array.from({ length: Math.floor((to - first) / step) + 1 }, (_, index) => first + index * step);
}

/** A picture of the lanes. `view` has from, to, axis, width, gutter and x(place); marks about `objects` stand out. */
class LanePicture {
  constructor(lanes, rules, view, chosen, objects) {
    Object.assign(this, { lanes, rules, view, chosen, objects });
    this.placeTexts();
    this.named = new Set(lanes.filter((lane) => this.hasRoomForNames(lane)));
    this.top = 22 + this.textRows * HEAD_ROW;
    this.height = this.top + lanes.reduce((sum, lane) => sum + this.laneHeight(lane), 0) + 6;
  }

  laneHeight(lane) {
    return LANE_GAP + POINT_ROW + lane.depth * (BAR_HEIGHT + 2) + (this.named.has(lane) ? NAME_ROW : 0);
  }

  /** Whether the names that do not go into their bars go below them. */
  hasRoomForNames(lane) {
    const bars = this.visible(lane.moments).filter((mark) => isBar(mark) && mark.row === 0);
    const wide = (mark) => this.view.x(mark.x1) - this.view.x(mark.x0);
    const narrow = bars.some((mark) => wide(mark) < textWidth(nameOf(mark)));
    return narrow && bars.every((mark) => wide(mark) >= LEAST_NAMED);
  }

  /** The texts of the lines across, those of findings first; one that finds no room is left to the table. */
  placeTexts() {
    const rows = [];
    const isFinding = (rule) => (rule.kind === "finding" ? 0 : 1);
    const rules = this.visible(this.rules).sort((a, b) => isFinding(a) - isFinding(b));
    this.texts = [];
    for (const rule of rules) {
      const text = rule.text ?? `${rule.kind}: ${rule.name}`;
      const most = Math.min(70, Math.floor((this.view.width - this.view.gutter) / LETTER) - 2);
      const short = text.length > most ? `${text.slice(0, most - 1)}…` : text;
      const width = short.length * LETTER + 10;
      const x = Math.max(Math.min(this.view.x(rule.x0), this.view.width - width), this.view.gutter);
      const isFree = (row) => (rows[row] ?? []).every(([from, to]) => x >= to || x + width <= from);
      const row = [0, 1, 2].find(isFree);
      if (row === undefined) continue;
      (rows[row] ??= []).push([x, x + width]);
      this.texts.push({ short, row, x });
    }
    this.textRows = rows.length;
  }

  visible(moments) {
    return moments.filter((moment) => moment.x1 >= this.view.from && moment.x0 <= this.view.to);
  }

  draw() {
    const { width, gutter } = this.view;
    const clip = makeSvg("clipPath", { id: "inside" });
    clip.append(makeSvg("rect", { x: gutter - 7, y: 0, width: Math.max(width - gutter + 7, 1), height: this.height }));
    const svg = makeSvg("svg", { viewBox: `0 0 ${width} ${this.height}`, height: this.height, "aria-hidden": "true" });
    const inside = makeSvg("g", { "clip-path": "url(#inside)" });
    svg.append(makePatterns(), clip);
    this.drawAxis(svg);
    let y = this.top;
    for (const lane of this.lanes) {
      this.drawLane(svg, inside, lane, y);
      y += this.laneHeight(lane);
    }
    svg.append(inside);
    this.drawRules(svg, inside);
    return svg;
  }

  drawAxis(svg) {
    const { from, to, width, gutter, axis } = this.view;
    for (const at of ticks(from, to, Math.max(2, (width - gutter) / 130))) {
      const x = this.view.x(at).toFixed(1);
      const text = time(axis.time(at));
      const half = (text.length * LETTER) / 2;
      const middle = Math.min(Math.max(x, half), width - half).toFixed(1);
      svg.append(makeSvg("line", { class: "grid-line", x1: x, x2: x, y1: 20, y2: this.height }));
      svg.append(makeSvg("text", { x: middle, y: 14, "text-anchor": "middle" }, text));
    }
  }

  drawLane(svg, inside, lane, y) {
    const { gutter, width } = this.view;
    const most = Math.floor((gutter - 16) / 6.4);
    const name = lane.thread.length > most ? `${lane.thread.slice(0, most - 1)}…` : lane.thread;
    svg.append(makeSvg("line", { class: "lane-line", x1: 0, x2: width, y1: y, y2: y }));
    const text = makeSvg("text", { class: "lane", x: gutter - 12, y: y + 22, "text-anchor": "end" }, name);
    text.append(makeSvg("title", {}, lane.thread));
    svg.append(text);
    for (const mark of this.visible(lane.moments)) inside.append(...this.drawMoment(mark, y, lane));
  }

  drawMoment(mark, y, lane) {
    const x = this.view.x(mark.x0);
    const bar = isBar(mark);
    const top = bar ? y + LANE_GAP / 2 + POINT_ROW + mark.row * (BAR_HEIGHT + 2) : y + LANE_GAP / 2 + POINT_ROW / 2;
    const end = Math.max(this.view.x(mark.x1), x + LEAST_BAR);
    const parts = bar ? this.drawBar(mark, x, top, end) : [makeSign(mark.kind, x, top)];
    if (bar) parts.push(...this.drawName(mark, x, top, end, lane));
    for (const part of parts) part.dataset.moment = mark.index;
    if (mark.object && this.objects.has(mark.object)) parts[0].classList.add("about");
    if (mark.place === this.chosen?.place) parts[0].classList.add("chosen");
    return parts;
  }

  drawBar(mark, x, top, end) {
    const count = mark.moments.length;
    const parts = count > 1 ? makeFold(mark.kind, x, top, end - x) : [makeBar(mark.kind, x, top, end - x)];
    if (mark.result) parts.push(makeStrike(x, end, top));
    return parts;
  }

  /** In the bar, or below the lane, or as much of it in the bar as says something. */
  drawName(mark, x, top, end, lane) {
    // What begins to the left of the picture has its name at the edge.
    const left = Math.max(x, this.view.gutter);
    const name = nameOf(mark);
    if (textWidth(name) > end - left && this.named.has(lane) && mark.row === 0) {
      const bottom = top + lane.depth * (BAR_HEIGHT + 2) + 9;
      const transform = `translate(${((left + end) / 2 - 3).toFixed(1)} ${bottom}) rotate(${NAME_ANGLE})`;
      return [makeSvg("text", { class: "below", transform }, shortened(name, NAME_ROOM))];
    }
    const text = shortened(name, end - left);
    const place = { class: `in-bar in-${mark.kind}`, x: (left + 4).toFixed(1), y: top + BAR_HEIGHT - 4 };
    return text ? [makeSvg("text", place, text)] : [];
  }

  drawRules(svg, inside) {
    for (const rule of this.visible(this.rules)) {
      const x = this.view.x(rule.x0).toFixed(1);
      inside.append(makeSvg("line", { class: `rule ${rule.kind}`, x1: x, x2: x, y1: 20, y2: this.height }));
    }
    for (const { short, row, x } of this.texts) {
      svg.append(makeSvg("text", { class: "rule-text", x: (x + 4).toFixed(1), y: 32 + row * HEAD_ROW }, short));
    }
  }
}
