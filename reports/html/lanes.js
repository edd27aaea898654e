// The lanes of a timeline, drawn as SVG: a charting library has no lanes with bars inside bars, signs between them and
// lines across, and what is drawn here can be read at any zoom and on paper.

const BAR_HEIGHT = 13;
const POINT_ROW = 18;
const LANE_GAP = 12;
const HEAD_ROW = 15;
const MOST_DEPTH = 5;
const LEAST_BAR = 2.5;
const RIGHT_EDGE = 14;
const LETTER = 7; // about as wide as letters are

// Of each kind its name in the legend, and whether it is a bar. What has no duration is a sign in any case.
const KINDS = {
  call: ["driver call", true],
  destructor: ["destructor", true],
  "host-function": ["host function", true],
  drain: ["drain", true],
  context: ["announced stretch", true],
  "pending-call": ["wakeup (pending call)", false],
  release: ["release", false],
  step: ["step", false],
  fault: ["fault", false],
  finding: ["finding", false],
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

function makeLegend(kinds) {
  return kinds.map((kind) => {
    const [word, isBar] = KINDS[kind] ?? [kind, false];
    const sign = isBar ? makeBar(kind, 1, 2, 22) : makeSign(kind, 12, 8);
    return make("li", {}, makeSvg("svg", { width: 24, height: 17, "aria-hidden": "true" }, sign), word);
  });
}

/** The moments of a timeline as objects, in the order in which they began. */
function readMoments(timeline) {
  const { names } = timeline;
  return timeline.at.map((at, index) => ({
    index,
    at,
    us: timeline.us[index],
    end: at + (timeline.us[index] ?? 0),
    thread: names[timeline.thread[index]],
    kind: names[timeline.kind[index]],
    name: names[timeline.name[index]],
    result: names[timeline.result[index]],
    object: names[timeline.object[index]],
    references: timeline.references[index],
    queue: timeline.queue[index],
  }));
}

const isBar = (moment) => moment.us !== null && (KINDS[moment.kind]?.[1] ?? true);

/** One lane a thread; a bar inside another goes one row down. */
function layLanes(moments) {
  const lanes = new Map();
  for (const moment of moments) {
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

/** Round numbers between two ends, about so many. */
function ticks(from, to, about) {
  const rough = (to - from) / about;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough);
  const first = Math.ceil(from / step) * step;
  return Array.from({ length: Math.floor((to - first) / step) + 1 }, (_, index) => first + index * step);
}

/** A picture of the lanes. `view` has from, to, width and gutter, and x(at). */
class LanePicture {
  constructor(lanes, rules, view, chosen) {
    Object.assign(this, { lanes, rules, view, chosen });
    this.placeTexts();
    this.top = 22 + this.textRows * HEAD_ROW;
    this.height = this.top + lanes.reduce((sum, lane) => sum + this.laneHeight(lane), 0) + 6;
  }

  laneHeight(lane) {
    return LANE_GAP + POINT_ROW + lane.depth * (BAR_HEIGHT + 2);
  }

  /** The texts of the lines across, in as many rows as they need; one that finds no room is left to the table. */
  placeTexts() {
    const ends = [];
    this.texts = [];
    for (const rule of this.visible(this.rules)) {
      const text = rule.kind === "finding" ? `finding: ${rule.name}` : `fault: ${rule.name}`;
      const most = Math.min(44, Math.floor((this.view.width - this.view.gutter) / LETTER) - 2);
      const short = text.length > most ? `${text.slice(0, most - 1)}…` : text;
      const width = short.length * LETTER + 10;
      const x = Math.max(Math.min(this.view.x(rule.at), this.view.width - width), this.view.gutter);
      const row = [0, 1, 2, 3].find((each) => (ends[each] ?? 0) <= x);
      if (row === undefined) continue;
      ends[row] = x + width;
      this.texts.push({ short, row, x });
    }
    this.textRows = ends.length;
  }

  visible(moments) {
    return moments.filter((moment) => moment.end >= this.view.from && moment.at <= this.view.to);
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
    const { from, to, width, gutter } = this.view;
    for (const at of ticks(from, to, Math.max(2, (width - gutter) / 130))) {
      const x = this.view.x(at).toFixed(1);
      svg.append(makeSvg("line", { class: "grid-line", x1: x, x2: x, y1: 20, y2: this.height }));
      svg.append(makeSvg("text", { x, y: 14, "text-anchor": "middle" }, time(at)));
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
    for (const moment of this.visible(lane.moments)) inside.append(...this.drawMoment(moment, y));
  }

  drawMoment(moment, y) {
    const x = this.view.x(moment.at);
    const bar = isBar(moment);
    const top = bar ? y + LANE_GAP / 2 + POINT_ROW + moment.row * (BAR_HEIGHT + 2) : y + LANE_GAP / 2 + POINT_ROW / 2;
    const sign = bar ? makeBar(moment.kind, x, top, this.view.x(moment.end) - x) : makeSign(moment.kind, x, top);
    sign.dataset.moment = moment.index;
    if (moment === this.chosen) sign.classList.add("chosen");
    if (!bar || !moment.result || moment.kind === "fault") return [sign];
    // A call that did not succeed is struck out.
    const end = Math.max(this.view.x(moment.end), x + LEAST_BAR);
    const d = `M${x.toFixed(1)} ${top + BAR_HEIGHT}L${end.toFixed(1)} ${top}`;
    return [sign, makeSvg("path", { class: "refused", d })];
  }

  drawRules(svg, inside) {
    for (const rule of this.visible(this.rules)) {
      const x = this.view.x(rule.at).toFixed(1);
      inside.append(makeSvg("line", { class: `rule ${rule.kind}`, x1: x, x2: x, y1: 20, y2: this.height }));
    }
    for (const { short, row, x } of this.texts) {
      svg.append(makeSvg("text", { class: "rule-text", x: (x + 4).toFixed(1), y: 32 + row * HEAD_ROW }, short));
    }
  }
}
