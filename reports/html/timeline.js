// One case's timeline: the lanes, the plots below them on the same stretch of time, and the same as a table.

const PAGE_OF_MOMENTS = 200;
const MOST_ZOOM = 50_000;

class Timeline {
  constructor(timelines, more) {
    this.timelines = timelines;
    this.charts = [];
    this.makePicker(more);
    this.listen();
    this.show(0);
  }

  makePicker(more) {
    const picker = byId("timeline-case");
    this.timelines.forEach((timeline, index) => {
      picker.append(make("option", { value: index }, `${timeline.case} (${timeline.verdict})`));
    });
    if (more) picker.append(make("option", { disabled: "" }, `${plural(more, "more case")} with one, in report.json`));
    picker.addEventListener("change", () => this.show(Number(picker.value)));
  }

  listen() {
    const lanes = byId("lanes");
    lanes.addEventListener("keydown", (event) => this.onKey(event));
    lanes.addEventListener("click", (event) => this.choose(event.target.dataset.moment));
    lanes.addEventListener("dblclick", () => this.unfold());
    lanes.addEventListener("pointerover", (event) => this.describe(event.target.dataset.moment));
    lanes.addEventListener("wheel", (event) => this.onWheel(event), { passive: false });
    for (const button of document.querySelectorAll("[data-view]")) {
      button.addEventListener("click", () => this.move(button.dataset.view));
    }
    byId("timeline-finding").addEventListener("change", (event) => this.turnTo(Number(event.target.value)));
    byId("timeline-even").addEventListener("change", () => this.changeMarks());
    byId("moments").addEventListener("toggle", () => this.showTable());
    let width = lanes.clientWidth;
    new ResizeObserver(() => {
      if (lanes.clientWidth === width) return;
      width = lanes.clientWidth;
      this.drawAll();
    }).observe(lanes);
  }

  /** The timeline of that number, at one of its findings; without any, the whole of it. */
  show(index, finding = 0) {
    this.timeline = this.timelines[index];
    byId("timeline-case").value = String(index);
    this.moments = readMoments(this.timeline);
    this.findings = readFindings(this.timeline);
    this.unfolded = new Set();
    this.shownMarks = PAGE_OF_MOMENTS;
    const picker = byId("timeline-finding");
    picker.replaceChildren(...this.findings.map(({ text }, number) => make("option", { value: number }, text)));
    picker.closest("label").hidden = this.findings.length < 2;
    byId("timeline-to-finding").disabled = !this.findings.length;
    this.turnTo(Math.min(finding, this.findings.length - 1));
  }

  /** To a finding of this timeline; -1 if there is none. */
  turnTo(number) {
    this.finding = this.findings[number] ?? null;
    this.objects = this.finding?.objects ?? new Set();
    byId("timeline-finding").value = String(number);
    this.lay();
    this.chosen = null;
    byId("moment").textContent = "";
    byId("timeline-about").textContent = this.about();
    if (this.finding) this.goToFinding(false);
    else this.setView(this.first, this.last, false);
    this.drawAll();
    this.showTable();
  }

  /** Marks, lanes and the axis, anew. */
  lay() {
    const kept = new Set(this.findings.map(({ moment }) => moment));
    this.marks = makeMarks(this.moments, this.unfolded, kept);
    this.axis = new Axis(this.marks, byId("timeline-even").checked);
    for (const each of [...this.marks, ...this.moments]) {
      each.x0 = this.axis.place(each.at);
      each.x1 = this.axis.place(each.end);
    }
    this.lanes = layLanes(this.marks);
    this.rules = this.makeRules();
    this.first = this.marks[0].x0;
    this.last = this.marks.reduce((last, mark) => Math.max(last, mark.x1), this.first + 0.001);
    byId("legend").replaceChildren(...makeLegend(this.marks, this.objects));
  }

  /** The lines across: faults, and findings, also those whose moment the process did not note. */
  makeRules() {
    const rules = this.marks.filter(({ kind }) => kind === "fault" || kind === "finding");
    const texts = new Map(this.findings.map(({ moment, text }) => [moment, text]));
    const unnoted = this.findings.filter(({ how }) => how !== "noted").map(({ moment, text }) => {
      const { x1 } = this.moments[moment];
      return { kind: "finding", index: moment, text, x0: x1, x1 };
    });
    return [...rules.map((rule) => ({ ...rule, text: texts.get(rule.index) })), ...unnoted];
  }

  /** With other marks, or on another axis: the same stretch of time stays in view. */
  changeMarks() {
    const [from, to] = [this.axis.time(this.from), this.axis.time(this.to)];
    const index = this.chosen?.index;
    this.lay();
    this.chosen = index === undefined ? null : this.markOf(index);
    this.setView(this.axis.place(from), this.axis.place(to), false);
    this.drawAll();
    this.showTable();
  }

  markOf(index) {
    return this.marks.find((mark) => mark.moments.some((moment) => moment.index === Number(index)));
  }

  /** Shows the moments of a folded mark one by one, or folds them again. */
  unfold(mark = this.chosen) {
    if (!mark || (mark.moments.length === 1 && !this.unfolded.has(mark.run))) return;
    if (!this.unfolded.delete(mark.run)) this.unfolded.add(mark.run);
    this.changeMarks();
    this.choose(mark.run);
  }

  about() {
    const { left_out: leftOut, finding, note } = this.timeline;
    const folded = this.moments.length - this.marks.length;
    const parts = [
      this.finding?.text ?? finding,
      `${plural(this.moments.length, "moment")} on ${plural(this.lanes.length, "thread")}`,
    ];
    if (folded) parts[1] += `, ${number(folded)} of them folded`;
    if (leftOut) parts.push(`${number(leftOut)} earlier ones are left out`);
    if (this.finding && this.finding.how !== "noted") parts.push(UNNOTED[this.finding.how]);
    return [...parts, note].filter(Boolean).join(" · ");
  }

  /** Shows a stretch of the axis, with a little room at both ends when it is the whole. */
  setView(from, to, draw = true) {
    const margin = (this.last - this.first) * 0.01;
    const least = this.axis.even ? 1 : Math.max((this.last - this.first) / MOST_ZOOM, 0.05);
    const length = Math.min(Math.max(to - from, least), this.last - this.first + 2 * margin);
    const middle = (from + to) / 2;
    this.from = Math.min(Math.max(middle - length / 2, this.first - margin), this.last + margin - length);
    this.to = this.from + length;
    if (to - from >= this.last - this.first) [this.from, this.to] = [this.first - margin, this.last + margin];
    if (draw) this.drawSoon();
  }

  view() {
    const width = Math.max(byId("lanes").clientWidth, 200);
    const gutter = width < 560 ? 100 : 128;
    const { from, to, axis } = this;
    const x = (place) => gutter + ((place - from) / (to - from)) * (width - gutter - RIGHT_EDGE);
    return { from, to, axis, width, gutter, x };
  }

  drawSoon() {
    this.waiting ??= requestAnimationFrame(() => {
      this.waiting = undefined;
      this.drawLanes();
      for (const chart of this.charts) {
        chart.options.scales.x.min = this.from;
        chart.options.scales.x.max = this.to;
        chart.update("none");
      }
    });
  }

  drawLanes() {
    const objects = this.chosen?.object ? new Set([...this.objects, this.chosen.object]) : this.objects;
    const picture = new LanePicture(this.lanes, this.rules, this.view(), this.chosen, objects);
    byId("lanes").replaceChildren(picture.draw());
  }

  /** Everything anew: another case, another width, another light. */
  drawAll() {
    this.drawLanes();
    for (const chart of this.charts) chart.destroy();
    const plots = byId("plots");
    plots.replaceChildren();
    this.charts = hasCharts() ? this.drawPlots(plots) : [];
    if (!hasCharts()) {
      plots.append(make("h3", {}, "References of each user object"), referenceTable(this.moments, this.objects));
    }
    if (waits(this.timeline.latencies).length) {
      if (!hasCharts()) plots.append(make("h3", {}, "Latency"));
      plots.append(latencyTable(this.timeline.latencies));
    }
  }

  drawPlots(plots) {
    const common = [this.rules, this.view(), readInk()];
    return [
      plotReferences(plots, this.moments, ...common, this.objects),
      plotQueue(plots, this.moments, ...common),
      plotLatencies(plots, this.timeline.latencies, ...common),
    ].filter(Boolean);
  }

  move(way) {
    const length = this.to - this.from;
    const middle = this.chosen ? this.chosen.x0 : (this.from + this.to) / 2;
    const center = Math.min(Math.max(middle, this.from), this.to);
    const share = (center - this.from) / length;
    const zoom = (factor) => this.setView(center - share * length * factor, center + (1 - share) * length * factor);
    switch (way) {
      case "in": return zoom(0.5);
      case "out": return zoom(2);
      case "left": return this.setView(this.from - length / 4, this.to - length / 4);
      case "right": return this.setView(this.from + length / 4, this.to + length / 4);
      case "finding": return this.goToFinding();
      default: return this.showWhole();
    }
  }

  /** With the objects of all times. */
  showWhole() {
    this.setView(this.first, this.last, false);
    this.drawAll();
  }

  /** The moment of the finding near the right edge, and what led to it before. */
  goToFinding(draw = true) {
    if (!this.finding) return;
    const mark = this.markOf(this.finding.moment);
    const from = this.markOf(this.finding.first).x0;
    const length = Math.max(mark.x1 - from, this.axis.even ? 2 : 1);
    this.chosen = mark;
    this.describe(mark.index);
    this.setView(from - length * 0.04, mark.x1 + length * 0.12, draw);
  }

  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const moves = { ArrowLeft: "left", ArrowRight: "right", 0: "whole", Home: "whole" };
    const ways = { "+": "in", "=": "in", "-": "out", ...moves };
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (key === "n" || key === "p") this.step(key === "n" ? 1 : -1);
    else if (key === "f") this.move("finding");
    else if (key === "Enter") this.unfold();
    else if (ways[key]) this.move(ways[key]);
    else return;
    event.preventDefault();
  }

  /** With the control key, as pinching does; without it the page scrolls as always. */
  onWheel(event) {
    if (!event.ctrlKey) return;
    event.preventDefault();
    this.move(event.deltaY < 0 ? "in" : "out");
  }

  step(direction) {
    const inView = (mark) => mark.x1 >= this.from && mark.x0 <= this.to;
    const start = this.chosen ? this.chosen.place + direction : this.marks.findIndex(inView);
    const next = this.marks[Math.min(Math.max(start, 0), this.marks.length - 1)];
    if (!next) return;
    this.choose(next.index);
    if (!inView(next)) {
      const half = (this.to - this.from) / 2;
      this.setView(next.x0 - half, next.x0 + half);
    }
  }

  choose(index) {
    if (index === undefined) return;
    this.chosen = this.markOf(index);
    this.describe(index);
    this.drawSoon();
  }

  describe(index) {
    if (index !== undefined) byId("moment").textContent = describeMark(this.markOf(index));
  }

  /** The table is made when it is looked at. */
  showTable() {
    const details = byId("moments");
    if (!details.open) return;
    const shown = this.marks.slice(0, this.shownMarks);
    const headings = ["At", ...["thread", "kind"].map((key) => makeTerm(key, key)), "Name", "Took",
      ...["result", "object", "references", "queue"].map((key) => makeTerm(key, key))];
    const rows = shown.map((each) => [
      time(each.at), each.thread, each.kind, this.nameInTable(each), time(each.us), each.result, each.object,
      each.references === null ? "" : number(each.references), each.queue === null ? "" : number(each.queue),
    ]);
    const parts = [makeTable("Moments", headings, rows, [0, 4, 7, 8])];
    const left = this.marks.length - shown.length;
    if (left) {
      const next = Math.min(left, PAGE_OF_MOMENTS);
      const button = make("button", { type: "button" }, `${number(left)} more: show ${next}`);
      button.addEventListener("click", () => {
        this.shownMarks += PAGE_OF_MOMENTS;
        this.showTable();
      });
      parts.push(make("p", {}, button));
    }
    details.lastElementChild.replaceChildren(...parts);
  }

  /** With a button that unfolds it, where it stands for several. */
  nameInTable(mark) {
    if (mark.moments.length === 1) return mark.name;
    const text = `${mark.name} × ${number(mark.moments.length)}`;
    const button = make("button", { type: "button", class: "unfold", "aria-label": `Unfold ${text}` }, text);
    button.addEventListener("click", () => this.unfold(mark));
    return button;
  }
}

// How it is told that a finding has no moment of its own.
const UNNOTED = {
  named: "the process did not note the moment: this is the last call that the message names",
  end: "the process did not note the moment: this is the end of the record",
};

function describeMark(mark) {
  const count = mark.moments.length;
  const times = count > 1 ? ` × ${number(count)}` : "";
  const parts = [`${time(mark.at)}, ${mark.thread}: ${KINDS[mark.kind]?.[0] ?? mark.kind} ${mark.name}${times}`];
  if (count > 1) {
    const took = mark.moments.map(({ us }) => us).sort((a, b) => a - b);
    parts.push(`${time(took[0])} to ${time(took.at(-1))} each, Enter unfolds them`);
  } else if (mark.us !== null) parts.push(`took ${time(mark.us)}`);
  if (mark.result) parts.push(mark.result);
  if (mark.object && mark.object !== mark.name) parts.push(mark.object);
  if (mark.references !== null) parts.push(plural(mark.references, "reference"));
  if (mark.queue !== null) parts.push(`queue ${number(mark.queue)}`);
  return parts.join(" · ");
}
