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
    lanes.addEventListener("pointerover", (event) => this.describe(event.target.dataset.moment));
    lanes.addEventListener("wheel", (event) => this.onWheel(event), { passive: false });
    for (const button of document.querySelectorAll("[data-view]")) {
      button.addEventListener("click", () => this.move(button.dataset.view));
    }
    byId("moments").addEventListener("toggle", () => this.showTable());
    let width = lanes.clientWidth;
    new ResizeObserver(() => {
      if (lanes.clientWidth === width) return;
      width = lanes.clientWidth;
      this.drawAll();
    }).observe(lanes);
  }

  show(index) {
    this.timeline = this.timelines[index];
    byId("timeline-case").value = String(index);
    this.moments = readMoments(this.timeline);
    this.lanes = layLanes(this.moments);
    this.rules = this.moments.filter(({ kind }) => kind === "fault" || kind === "finding");
    this.first = this.moments[0].at;
    this.last = Math.max(...this.moments.map((moment) => moment.end), this.first + 0.001);
    this.chosen = null;
    this.shownMoments = PAGE_OF_MOMENTS;
    const kinds = new Set(this.moments.map((moment) => moment.kind));
    byId("legend").replaceChildren(...makeLegend(Object.keys(KINDS).filter((kind) => kinds.has(kind))));
    byId("timeline-about").textContent = this.about();
    byId("moment").textContent = "";
    this.setView(this.first, this.last, false);
    this.drawAll();
    this.showTable();
  }

  about() {
    const { left_out: leftOut, finding } = this.timeline;
    const parts = [finding, `${plural(this.moments.length, "moment")} on ${plural(this.lanes.length, "thread")}`];
    if (leftOut) parts.push(`${number(leftOut)} earlier ones are left out`);
    return parts.filter(Boolean).join(" · ");
  }

  /** Shows a stretch of time, with a little room at both ends when it is the whole. */
  setView(from, to, draw = true) {
    const margin = (this.last - this.first) * 0.01;
    const least = Math.max((this.last - this.first) / MOST_ZOOM, 0.05);
    const length = Math.min(Math.max(to - from, least), this.last - this.first + 2 * margin);
    const middle = (from + to) / 2;
    this.from = Math.min(Math.max(middle - length / 2, this.first - margin), this.last + margin - length);
    this.to = this.from + length;
    if (to - from >= this.last - this.first) [this.from, this.to] = [this.first - margin, this.last + margin];
    if (draw) this.drawSoon();
  }

  view() {
    const width = Math.max(byId("lanes").clientWidth, 200);
    const gutter = width < 560 ? 84 : 128;
    const { from, to } = this;
    const x = (at) => gutter + ((at - from) / (to - from)) * (width - gutter - RIGHT_EDGE);
    return { from, to, width, gutter, x };
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
    const picture = new LanePicture(this.lanes, this.rules, this.view(), this.chosen);
    byId("lanes").replaceChildren(picture.draw());
  }

  /** Everything anew: another case, another width, another light. */
  drawAll() {
    this.drawLanes();
    for (const chart of this.charts) chart.destroy();
    const plots = byId("plots");
    plots.replaceChildren();
    this.charts = hasCharts() ? this.drawPlots(plots) : [];
    if (!hasCharts()) plots.append(make("h3", {}, "References of each user object"), referenceTable(this.moments));
    if (waits(this.timeline.latencies).length) {
      if (!hasCharts()) plots.append(make("h3", {}, "Latency"));
      plots.append(latencyTable(this.timeline.latencies));
    }
  }

  drawPlots(plots) {
    const common = [this.rules, this.view(), readInk()];
    return [
      plotReferences(plots, this.moments, ...common),
      plotQueue(plots, this.moments, ...common),
      plotLatencies(plots, this.timeline.latencies, ...common),
    ].filter(Boolean);
  }

  move(way) {
    const length = this.to - this.from;
    const middle = this.chosen ? this.chosen.at : (this.from + this.to) / 2;
    const center = Math.min(Math.max(middle, this.from), this.to);
    const share = (center - this.from) / length;
    const zoom = (factor) => this.setView(center - share * length * factor, center + (1 - share) * length * factor);
    switch (way) {
      case "in": return zoom(0.5);
      case "out": return zoom(2);
      case "left": return this.setView(this.from - length / 4, this.to - length / 4);
      case "right": return this.setView(this.from + length / 4, this.to + length / 4);
      case "finding": return this.goToFinding();
      default: return this.setView(this.first, this.last);
    }
  }

  goToFinding() {
    const rule = this.rules.findLast(({ kind }) => kind === "finding") ?? this.rules.at(-1);
    if (!rule) return;
    const length = (this.last - this.first) / 8;
    this.choose(rule.index);
    this.setView(rule.at - length / 2, rule.at + length / 2);
  }

  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const moves = { ArrowLeft: "left", ArrowRight: "right", 0: "whole", Home: "whole" };
    const ways = { "+": "in", "=": "in", "-": "out", ...moves };
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (key === "n" || key === "p") this.step(key === "n" ? 1 : -1);
    else if (key === "f") this.move("finding");
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
    const inView = (moment) => moment.end >= this.from && moment.at <= this.to;
    const start = this.chosen ? this.chosen.index + direction : this.moments.findIndex(inView);
    const next = this.moments[Math.min(Math.max(start, 0), this.moments.length - 1)];
    if (!next) return;
    this.choose(next.index);
    if (!inView(next)) {
      const half = (this.to - this.from) / 2;
      this.setView(next.at - half, next.at + half);
    }
  }

  choose(index) {
    if (index === undefined) return;
    this.chosen = this.moments[index];
    this.describe(index);
    this.drawSoon();
  }

  describe(index) {
    if (index !== undefined) byId("moment").textContent = describeMoment(this.moments[index]);
  }

  /** The table is made when it is looked at. */
  showTable() {
    const details = byId("moments");
    if (!details.open) return;
    const shown = this.moments.slice(0, this.shownMoments);
    const headings = ["At", "Thread", "Kind", "Name", "Took", "Result", "Object", "References", "Queue"];
    const rows = shown.map((each) => [
      time(each.at), each.thread, each.kind, each.name, time(each.us), each.result, each.object,
      each.references === null ? "" : number(each.references), each.queue === null ? "" : number(each.queue),
    ]);
    const parts = [makeTable("Moments", headings, rows, [0, 4, 7, 8])];
    const left = this.moments.length - shown.length;
    if (left) {
      const next = Math.min(left, PAGE_OF_MOMENTS);
      const button = make("button", { type: "button" }, `${number(left)} more: show ${next}`);
      button.addEventListener("click", () => {
        this.shownMoments += PAGE_OF_MOMENTS;
        this.showTable();
      });
      parts.push(make("p", {}, button));
    }
    details.lastElementChild.replaceChildren(...parts);
  }
}

function describeMoment(moment) {
  const parts = [`${time(moment.at)}, ${moment.thread}: ${KINDS[moment.kind]?.[0] ?? moment.kind} ${moment.name}`];
  if (moment.us !== null) parts.push(`took ${time(moment.us)}`);
  if (moment.result) parts.push(moment.result);
  if (moment.object && moment.object !== moment.name) parts.push(moment.object);
  if (moment.references !== null) parts.push(plural(moment.references, "reference"));
  if (moment.queue !== null) parts.push(`queue ${number(moment.queue)}`);
  return parts.join(" · ");
}
